import type { PushConfig, StoredFact } from '@batonjs/store';
import { named, type PeerPush } from '../base/store/peers.ts';
import { isoTime } from '../base/timing/clock.ts';
import { AddressRefused, addressPolicy } from './address-policy/address-policy.ts';
import type { Resolve } from './address-policy/resolve-host.ts';
import type { FailureOutcome } from './attempt.ts';
import type { DeliveryDependencies } from './webhooks.ts';

/** How long a host name may take to resolve, in milliseconds. */
const resolveMs = 1_000;
/** For how long the options of other processes are known. */
const knownForMs = 1_000;
/** How much rarer a process asks again, in parts of the time since the update: another one may deliver, or none. */
const parts = { someMay: 64, noneMay: 8 };

/**
 * The options of this process do not let it deliver. Puts the delivery off for a moment, so that others can claim it,
 * and counts no attempt. Gives it up once the update is too old to be tried again and no other process may deliver.
 */
export async function leaveToOthers(
  { reason }: { readonly reason: string },
  { fact, version }: StoredFact,
  attempts: number,
  { push, clock, logger, telemetry, delivery, options: { pollMs } }: DeliveryDependencies & Left,
): Promise<FailureOutcome> {
  const { peers } = push;
  const { maxAgeMs, maxDelayMs } = push.options.retry;
  const ageMs = clock.now() - Date.parse(fact.at);
  // One that may deliver can have started just now.
  const known = await peers?.others(ageMs > maxAgeMs ? 0 : knownForMs);
  const others = (known ?? []).filter((peer) => peer.push && !peer.isClosed);
  // One that does not sign leaves what others sign.
  const mustSign = [push.reach, ...others.map((peer) => peer.push)].some((reach) => reach?.signs);
  const may = await Promise.all(
    others.map(
      ({ push: reach }) =>
        reach && (reach.signs || !mustSign) && mayDeliver(reach, delivery.push, push.resolve),
    ),
  );
  const someMay = may.includes(true);
  const details = { taskId: delivery.push.taskId, configId: delivery.push.id, version, reason };
  if (!someMay && ageMs > maxAgeMs) {
    const refused = named([peers?.name ?? '', ...others.map(({ name }) => name)]);
    logger('warn', 'A webhook was given up', { ...details, refused });
    telemetry?.gaveUp();
    return { dead: `${reason}, refused by ${refused}` };
  }
  const waitMs = Math.min(maxDelayMs, Math.max(pollMs, ageMs / (someMay ? parts.someMay : parts.noneMay)));
  const afterMs = waitMs * (0.5 + clock.random() / 2);
  logger(someMay ? 'info' : 'warn', 'A delivery is left to other processes', {
    ...details,
    someMay,
    afterMs,
  });
  return { retryAt: isoTime(clock.now() + afterMs), attempts };
}

interface Left {
  readonly delivery: { readonly push: PushConfig };
}

/** Whether a process with these options may deliver. A name that cannot be resolved now may be resolved later. */
async function mayDeliver(
  { allow, ports, http, versions }: PeerPush,
  { config, protocolVersion }: PushConfig,
  resolve: Resolve | undefined,
): Promise<boolean> {
  if (!versions.includes(protocolVersion)) return false;
  try {
    const policy = addressPolicy({ allow, ports: ports ?? undefined, http, resolve });
    await policy.destination(config.url, AbortSignal.timeout(resolveMs));
  } catch (error) {
    return !AddressRefused.is(error);
  }
  return true;
}
