import { FACT_FORMAT, toStreamResponse } from '@batonjs/lifecycle';
import { PREVIEW_VERSION } from '@batonjs/protocol/headers';
import { backoffMs } from '@batonjs/protocol/timing';
import { type Delivery, loadTask, type PushConfig, type StoredFact } from '@batonjs/store';
import { sha256 } from '#bytes';
import { type DeliverySpan, runIn } from '../base/hooks/telemetry.ts';
import { named, type PeerPush } from '../base/store/peers.ts';
import { isoTime } from '../base/timing/clock.ts';
import { generationAt, generationIn } from '../log/generation/generation-at.ts';
import { AddressRefused, addressPolicy } from './address-policy/address-policy.ts';
import type { Resolve } from './address-policy/resolve-host.ts';
import { type AttemptResult, attempt, type FailureOutcome, outcomeOf } from './attempt.ts';
import type { FailingWebhooks } from './hosts/failing-webhooks.ts';
import { backoffOf, type DeliveryDependencies, isWanted } from './webhooks.ts';

/** Facts that are read before the webhook goes to the end of the queue again. */
const batch = 16;

/** How long a delivery is claimed for, in whole milliseconds: enough for an attempt and the store calls around it. */
export const deliveryMs = ({ push, options: { timeouts } }: DeliveryDependencies): number =>
  Math.ceil(timeouts.leaseMs + push.options.timeoutMs * 1.25);

/** How far a delivery got. */
export interface DeliveryProgress {
  /** Whether the webhook accepted each update or refused it so that it was skipped. False: tried again later, or given up. */
  readonly works: boolean;
  /** Whether it accepted an update. */
  readonly tookOne: boolean;
  /** Milliseconds until the next attempt; unset if none is planned. */
  readonly againMs?: number;
}

const done: DeliveryProgress = { works: true, tookOne: false };

/** The parts that a delivery needs. */
interface Delivering extends DeliveryDependencies {
  readonly delivery: Delivery;
  readonly failing: FailingWebhooks;
  readonly closing: AbortSignal;
}

/**
 * Moves one webhook further in the log: posts the updates that it wants, in order, and records its position. Rejects if
 * the store does not answer; then the rest is delivered again once the claim is given back or runs out.
 */
export async function deliver(
  delivery: Delivery,
  dependencies: DeliveryDependencies,
  failing: FailingWebhooks,
  closing: AbortSignal,
): Promise<DeliveryProgress> {
  const { store, push, clock } = dependencies;
  const { scope, taskId, id, cursor, attempts } = delivery.push;
  const facts = await store.readFacts(scope, taskId, cursor, batch);
  if (facts.some(({ fact }) => !(fact.format <= FACT_FORMAT))) {
    // Another process may know this format; skipping the fact would hide it for good.
    const retryAt = isoTime(clock.now() + backoffMs(1, backoffOf(push.options.retry), clock.random));
    await push.store.advance(delivery, { retryAt, attempts });
    return done;
  }
  if (facts.some(({ fact }) => fact.type === 'answered')) {
    // The agent answered with a message: there is no task with updates.
    await push.store.removePushConfig(scope, taskId, id);
    return done;
  }
  return deliverAll(facts, { ...dependencies, delivery, failing, closing });
}

async function deliverAll(facts: readonly StoredFact[], parts: Delivering): Promise<DeliveryProgress> {
  const { store, push, clock, delivery, failing, closing } = parts;
  const { scope, taskId, cursor, attempts } = delivery.push;
  const due = facts.filter(({ fact }) => isWanted(fact, push.options.updates));
  const isFirstHere = due.length === 0 || facts[0]?.version === 1;
  const first = isFirstHere ? facts[0] : (await store.readFacts(scope, taskId, 0, 1))[0];
  let tookOne = false;
  for (const stored of due) {
    const before = stored === due[0] ? attempts : 0;
    const { result, span } = await send(stored, first, before, parts);
    if (result.delivered) {
      failing.over(delivery.push);
      tookOne = true;
    } else if (isLeft(result, parts)) {
      await push.store.advance(delivery, await leaveToOthers(result, stored, before, parts));
      return { works: true, tookOne };
    } else {
      const outcome = closing.aborted
        ? handedBack(before, clock.now())
        : runIn(span, () => recorded(result, stored, before, parts));
      if (outcome) {
        await push.store.advance(delivery, outcome);
        const againMs = 'retryAt' in outcome ? Date.parse(outcome.retryAt) - clock.now() : undefined;
        return { works: false, tookOne, againMs };
      }
    }
    const keep = stored === due.at(-1) ? undefined : { ttlMs: deliveryMs(parts) };
    // The claim was lost: the process that has it delivers the rest.
    if (keep && !(await push.store.advance(delivery, { cursor: stored.version, keep })))
      return { works: true, tookOne };
  }
  await push.store.advance(delivery, { cursor: facts.at(-1)?.version ?? cursor });
  return { works: true, tookOne };
}

interface Sent {
  readonly result: AttemptResult;
  readonly span?: DeliverySpan | undefined;
}

async function send(
  { version, fact }: StoredFact,
  first: StoredFact | undefined,
  before: number,
  parts: Delivering,
): Promise<Sent> {
  const { push, clock, delivery, closing } = parts;
  const { taskId, id, protocolVersion, config } = delivery.push;
  const format = push.formats.get(protocolVersion);
  const message = first?.fact.type === 'message-received' ? first.fact : undefined;
  const event = toStreamResponse({ id: taskId, contextId: message?.message.contextId ?? '' }, fact);
  if (!first || !event) return { result: { delivered: true } };
  if (!format) {
    const reason = `no format for version ${protocolVersion}`;
    return { result: { delivered: false, reason, retry: 'yes', isRefusedHere: true } };
  }
  const name = deliveryId(delivery.push, first, version);
  const isCounted = format.version === PREVIEW_VERSION;
  const shown = (await parts.options.files?.ready())?.shown(event, delivery.push.scope) ?? event;
  const whole = isCounted ? generationIn(shown, await generationOf(version, parts)) : shown;
  const webhookRequest = { push: delivery.push, id: name, format, event: whole };
  const span = parts.telemetry?.delivery({
    taskId,
    configId: id,
    attempt: before + 1,
    url: config.url,
    lagMs: clock.now() - Date.parse(fact.at),
    traceparent: message?.traceparent,
  });
  if (!span) return { result: await attempt(webhookRequest, parts, closing) };
  const { headers } = span;
  const result = await span.run(() => attempt({ ...webhookRequest, headers }, parts, closing));
  const { status } = result;
  if (result.delivered) span.end({ outcome: 'delivered', status });
  else {
    const outcome = closing.aborted || isLeft(result, parts) ? 'handed_back' : 'failed';
    span.end({ outcome, status, reason: result.reason });
  }
  return { result, span };
}

/** Whether other processes may deliver what this one refuses to. */
const isLeft = (result: AttemptResult & { delivered: false }, { push, closing }: Delivering): boolean =>
  result.isRefusedHere === true && push.peers !== undefined && !closing.aborted;

async function generationOf(version: number, { store, delivery }: Delivering): Promise<number> {
  const { scope, taskId } = delivery.push;
  const state = await loadTask(store, scope, taskId);
  // Pruned at this very moment: the webhook cannot know the task any more.
  return state ? generationAt(store, { scope, taskId, state }, version) : 0;
}

/** The process closes in the middle of an attempt, which does not count. */
const handedBack = (attempts: number, now: number): FailureOutcome => ({ retryAt: isoTime(now), attempts });

/** The outcome of a failed attempt, which is logged and counted. Undefined if the update is skipped. */
function recorded(
  result: AttemptResult & { delivered: false },
  { version, fact }: StoredFact,
  before: number,
  { push, clock, delivery, failing, logger, telemetry }: Delivering,
): FailureOutcome | undefined {
  const now = clock.now();
  const { retry, afterMs, reason } = result;
  const attempts = before + 1;
  const details = { taskId: delivery.push.taskId, configId: delivery.push.id, version, attempts, reason };
  const rejections = failing.failed(delivery.push, {
    isRejection: retry === 'few' || retry === 'skip',
    mayBeEarly: retry !== 'skip' && afterMs === undefined,
  });
  const found = { fact, attempts, rejections, now, random: clock.random };
  const outcome = outcomeOf(result, found, push.options.retry);
  if (!outcome) logger('warn', 'A webhook refused an update, which is skipped', details);
  else if ('dead' in outcome) {
    failing.over(delivery.push);
    logger('warn', 'A webhook was given up', details);
    telemetry?.gaveUp();
  } else {
    const afterMs = Date.parse(outcome.retryAt) - now;
    logger('info', 'A delivery failed and is tried again', { ...details, afterMs });
  }
  return outcome;
}

/**
 * Names one update for one webhook: the same in every attempt, by any process. `first` is the first fact of the log,
 * which distinguishes the log from an earlier one of the same task id. A hash, because ids of clients may hold
 * characters that a header may not.
 */
export const deliveryId = (
  { taskId, id }: Pick<PushConfig, 'taskId' | 'id'>,
  first: StoredFact,
  version: number,
): string => sha256(JSON.stringify([first.commitId, taskId, id, version]), 'base64url').slice(0, 32);

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
async function leaveToOthers(
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
