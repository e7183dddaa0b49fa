import { backoffMs } from '@batonjs/protocol/timing';
import type { Delivery } from '@batonjs/store';
import { heardWithinMs, type Peers } from '../base/store/peers.ts';
import { subscribeToQueue } from '../base/store/store-outage.ts';
import { newId } from '../base/system/new-id.ts';
import { isoTime } from '../base/timing/clock.ts';
import { clockSteps } from '../base/timing/deadline-timers.ts';
import { type DeliveryProgress, deliver, deliveryMs } from './deliver.ts';
import { FailingWebhooks, hostOf, hostShares, type PushConfigName } from './hosts/failing-webhooks.ts';
import { backoffOf, type DeliveryDependencies } from './webhooks.ts';

const batch = 32;
/** How often it looks for webhooks that a clock which was ahead has postponed. */
const lookMs = 60_000;
/** How many webhooks are retried early in one store call. */
const retriedAtOnce = 100;
/** The failures of a host that lengthen the wait of its postponed deliveries; further ones do not. */
const failuresThatCount = 5;

/** Delivers to each webhook of a queue the updates that it has not got yet, side by side with other processes. */
export function delivererOf(dependencies: DeliveryDependencies) {
  const { push, clock, report, options } = dependencies;
  const { queue, pollMs } = options;
  const shares = hostShares(push.options.concurrency);
  const failing = new FailingWebhooks();
  const stop = new AbortController();
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  let unsubscribe: () => Promise<void> = async () => {};
  let notified = new AbortController();
  let over: Promise<void> | undefined;

  /** Claims and delivers until nothing is left to claim, or the time is over. */
  async function finish(graceMs: number): Promise<void> {
    const end = clock.monotonic() + graceMs;
    for (let left = graceMs; left > 0; left = end - clock.monotonic()) {
      // A webhook whose delivery runs cannot be claimed, and may have newer updates by now.
      const held = [...running];
      const claimed = await claimSafely(claimable());
      if (held.length === 0 && claimed === 0) return;
      const done = new AbortController();
      const all = Promise.all([...held, ...running]).then(() => done.abort());
      await Promise.race([all, clock.sleep(left, done.signal)]);
    }
  }

  async function loop(): Promise<void> {
    const steps = clockSteps(clock);
    let lookAt = clock.monotonic() + lookMs * clock.random();
    while (!stop.signal.aborted) {
      notified = new AbortController();
      // Their times would come too late.
      if (steps() < 0) await retryNow(failing.names);
      if (clock.monotonic() >= lookAt && (await claimPutOff())) lookAt = clock.monotonic() + lookMs;
      const limit = claimable();
      const claimed = await claimSafely(limit);
      // There may be more to claim at once.
      if (claimed > 0 && claimed === limit) continue;
      if (stop.signal.aborted) return;
      await clock.sleep(pollMs * (0.75 + clock.random() / 2), notified.signal, 'idle');
    }
  }

  /** How many deliveries may be claimed now. */
  const claimable = (): number => Math.max(0, Math.min(batch, shares.free));

  /** Resolves whether it got all webhooks that wait longer than the options allow: a clock was ahead. */
  async function claimPutOff(): Promise<boolean> {
    const limit = claimable();
    const waits = [push.options.retry.maxDelayMs, pollMs, 2 * deliveryMs(dependencies)];
    return (await claimSafely(limit, Math.min(Math.max(...waits), Number.MAX_SAFE_INTEGER))) < limit;
  }

  /** Resolves to how many were claimed. Never rejects. */
  async function claimSafely(limit: number, beyondMs?: number): Promise<number> {
    if (limit === 0) return 0;
    try {
      return await claim(limit, beyondMs);
    } catch (error) {
      report('Could not claim deliveries', { error });
      return 0;
    }
  }

  async function claim(limit: number, beyondMs?: number): Promise<number> {
    const unsigned = push.sign ? undefined : push.peers;
    // Those that started since are looked for only where there is something to send.
    if (unsigned && (await sign(unsigned, Number.POSITIVE_INFINITY))) return 0;
    const request = { queue, holder: newId(clock), ttlMs: deliveryMs(dependencies), limit, beyondMs };
    const deliveries = await push.store.claimDeliveries(request);
    // Kept, they would wait until the claim ends where the store does not say who signs.
    if (unsigned && deliveries.length > 0 && (await sign(unsigned, heardWithinMs).catch(() => true))) {
      await Promise.all(deliveries.map((delivery) => giveBack(delivery)));
      return 0;
    }
    for (const delivery of deliveries) {
      const delivering = run(delivery).finally(() => running.delete(delivering));
      running.add(delivering);
    }
    return deliveries.length;
  }

  const giveBack = (delivery: Delivery, waitMs = 0, attempts = delivery.push.attempts): Promise<boolean> =>
    push.store.advance(delivery, { retryAt: isoTime(clock.now() + waitMs), attempts });

  async function run(delivery: Delivery): Promise<void> {
    const { taskId, id } = delivery.push;
    const host = hostOf(delivery.push);
    try {
      if (!shares.enter(host)) return await postpone(delivery, host);
      let progress: DeliveryProgress = { works: false, tookOne: false };
      try {
        progress = await deliver(delivery, dependencies, failing, closing.signal);
      } finally {
        const wasFull = shares.free === 0;
        shares.leave(host, !progress.works);
        if (wasFull) notified.abort();
      }
      claimIn(progress.againMs);
      // The host answers.
      if (progress.tookOne) await retryNow(failing.takeEarly(host));
    } catch (error) {
      report('Could not record a delivery', { taskId, configId: id, error });
      const waitMs = backoffMs(1, backoffOf(push.options.retry), clock.random);
      // It may be at a later update by now, with which no attempt has failed.
      await giveBack(delivery, waitMs, 0).catch(() => {});
    }
  }

  /** Tries failing webhooks at once. Never rejects: they have a time of their own. */
  async function retryNow(waiting: readonly PushConfigName[]): Promise<void> {
    try {
      for (let n = 0; n < waiting.length; n += retriedAtOnce)
        await push.store.retryNow(waiting.slice(n, n + retriedAtOnce));
    } catch (error) {
      report('Could not retry webhooks', { error });
    }
  }

  /** The host has its share: puts the delivery back into the queue, for longer if the host does not answer. */
  async function postpone(delivery: Delivery, host: string): Promise<void> {
    const failures = shares.failures(host);
    const wait =
      failures > 0
        ? backoffMs(Math.min(failures, failuresThatCount) + 1, backoffOf(push.options.retry), clock.random)
        : pollMs * clock.random();
    if (failures > 0) failing.postponed(delivery.push);
    await giveBack(delivery, wait);
    claimIn(wait);
  }

  /** Claims again after `ms` milliseconds, if that is before the next poll. */
  function claimIn(ms = Number.POSITIVE_INFINITY): void {
    if (ms < pollMs) void clock.sleep(ms + 1, stop.signal, 'idle').then(() => notified.abort());
  }

  return {
    start(): void {
      // With a reason: an abort without one creates an error with a stack, for every notification.
      unsubscribe = subscribeToQueue(dependencies, () => notified.abort('notified'));
      over = loop();
    },

    /** Delivers all due updates, up to the latest, for up to `graceMs` milliseconds, and leaves the rest to other processes. */
    async close(graceMs: number): Promise<void> {
      stop.abort();
      notified.abort();
      const unsubscribed = unsubscribe();
      await over;
      if (graceMs > 0) await finish(graceMs);
      closing.abort();
      await Promise.all([...running, unsubscribed]);
    },
  };
}

/** Whether other processes sign. One that cannot leaves all deliveries to them. */
const sign = async (peers: Peers, knownForMs: number): Promise<boolean> =>
  (await peers.others(knownForMs)).some(({ push }) => push?.signs);
