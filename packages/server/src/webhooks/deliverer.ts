import { backoffMs } from '@batonjs/protocol/timing';
import type { Delivery } from '@batonjs/store';
import { heardWithinMs, type Peers } from '../base/store/peers.ts';
import { subscribeToQueue } from '../base/store/store-outage.ts';
import { newId } from '../base/system/new-id.ts';
import { isoTime } from '../base/timing/clock.ts';
import { ClockSteps } from '../base/timing/deadline-timers.ts';
import { type DeliveryProgress, deliver, deliveryMs } from './deliver.ts';
import { FailingWebhooks, hostOf, type PushConfigName } from './hosts/failing-webhooks.ts';
import { HostShares } from './hosts/host-shares.ts';
import { backoffOf, type DeliveryDependencies } from './webhooks.ts';

const batch = 32;
/** How often it looks for webhooks that a clock which was ahead has postponed. */
const lookMs = 60_000;
/** How many webhooks are retried early in one store call. */
const retriedAtOnce = 100;
/** The failures of a host that lengthen the wait of its postponed deliveries; further ones do not. */
const failuresThatCount = 5;

/** Delivers to each webhook of a queue the updates that it has not got yet, side by side with other processes. */
export class Deliverer {
  readonly #dependencies: DeliveryDependencies;
  readonly #shares: HostShares;
  readonly #failing = new FailingWebhooks();
  readonly #stop = new AbortController();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #unsubscribe: () => Promise<void> = async () => {};
  #notified = new AbortController();
  #over: Promise<void> | undefined;

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies;
    this.#shares = new HostShares(dependencies.push.options.concurrency);
  }

  start(): void {
    // With a reason: an abort without one creates an error with a stack, for every notification.
    this.#unsubscribe = subscribeToQueue(this.#dependencies, () => this.#notified.abort('notified'));
    this.#over = this.#loop();
  }

  /** Delivers all due updates, up to the latest, for up to `graceMs` milliseconds, and leaves the rest to other processes. */
  async close(graceMs: number): Promise<void> {
    this.#stop.abort();
    this.#notified.abort();
    const unsubscribed = this.#unsubscribe();
    await this.#over;
    if (graceMs > 0) await this.#finish(graceMs);
    this.#closing.abort();
    await Promise.all([...this.#running, unsubscribed]);
  }

  /** Claims and delivers until nothing is left to claim, or the time is over. */
  async #finish(graceMs: number): Promise<void> {
    const { clock } = this.#dependencies;
    const end = clock.monotonic() + graceMs;
    for (let left = graceMs; left > 0; left = end - clock.monotonic()) {
      // A webhook whose delivery runs cannot be claimed, and may have newer updates by now.
      const held = [...this.#running];
      const claimed = await this.#claimSafely(this.#claimable);
      if (held.length === 0 && claimed === 0) return;
      const done = new AbortController();
      const all = Promise.all([...held, ...this.#running]).then(() => done.abort());
      await Promise.race([all, clock.sleep(left, done.signal)]);
    }
  }

  async #loop(): Promise<void> {
    const { clock } = this.#dependencies;
    const { pollMs } = this.#dependencies.options;
    const steps = new ClockSteps(clock);
    let lookAt = clock.monotonic() + lookMs * clock.random();
    while (!this.#stop.signal.aborted) {
      this.#notified = new AbortController();
      // Their times would come too late.
      if (steps.next() < 0) await this.#retryNow(this.#failing.names);
      if (clock.monotonic() >= lookAt && (await this.#claimPutOff())) lookAt = clock.monotonic() + lookMs;
      const limit = this.#claimable;
      const claimed = await this.#claimSafely(limit);
      // There may be more to claim at once.
      if (claimed > 0 && claimed === limit) continue;
      if (this.#stop.signal.aborted) return;
      await clock.sleep(pollMs * (0.75 + clock.random() / 2), this.#notified.signal, 'idle');
    }
  }

  /** How many deliveries may be claimed now. */
  get #claimable(): number {
    return Math.max(0, Math.min(batch, this.#shares.free));
  }

  /** Resolves whether it got all webhooks that wait longer than the options allow: a clock was ahead. */
  async #claimPutOff(): Promise<boolean> {
    const { push, options } = this.#dependencies;
    const limit = this.#claimable;
    const waits = [push.options.retry.maxDelayMs, options.pollMs, 2 * deliveryMs(this.#dependencies)];
    return (await this.#claimSafely(limit, Math.min(Math.max(...waits), Number.MAX_SAFE_INTEGER))) < limit;
  }

  /** Resolves to how many were claimed. Never rejects. */
  async #claimSafely(limit: number, beyondMs?: number): Promise<number> {
    if (limit === 0) return 0;
    try {
      return await this.#claim(limit, beyondMs);
    } catch (error) {
      this.#dependencies.report('Could not claim deliveries', { error });
      return 0;
    }
  }

  async #claim(limit: number, beyondMs?: number): Promise<number> {
    const { push, clock } = this.#dependencies;
    const { queue } = this.#dependencies.options;
    const unsigned = push.sign ? undefined : push.peers;
    // Those that started since are looked for only where there is something to send.
    if (unsigned && (await sign(unsigned, Number.POSITIVE_INFINITY))) return 0;
    const request = { queue, holder: newId(clock), ttlMs: deliveryMs(this.#dependencies), limit, beyondMs };
    const deliveries = await push.store.claimDeliveries(request);
    // Kept, they would wait until the claim ends where the store does not say who signs.
    if (unsigned && deliveries.length > 0 && (await sign(unsigned, heardWithinMs).catch(() => true))) {
      await Promise.all(deliveries.map((delivery) => this.#giveBack(delivery)));
      return 0;
    }
    for (const delivery of deliveries) {
      const running = this.#run(delivery).finally(() => this.#running.delete(running));
      this.#running.add(running);
    }
    return deliveries.length;
  }

  #giveBack(delivery: Delivery, waitMs = 0, attempts = delivery.push.attempts): Promise<boolean> {
    const { push, clock } = this.#dependencies;
    return push.store.advance(delivery, { retryAt: isoTime(clock.now() + waitMs), attempts });
  }

  async #run(delivery: Delivery): Promise<void> {
    const { push, clock } = this.#dependencies;
    const { taskId, id } = delivery.push;
    const host = hostOf(delivery.push);
    try {
      if (!this.#shares.enter(host)) return await this.#postpone(delivery, host);
      let progress: DeliveryProgress = { works: false, tookOne: false };
      try {
        progress = await deliver(delivery, this.#dependencies, this.#failing, this.#closing.signal);
      } finally {
        const wasFull = this.#shares.free === 0;
        this.#shares.leave(host, !progress.works);
        if (wasFull) this.#notified.abort();
      }
      this.#claimIn(progress.againMs);
      // The host answers.
      if (progress.tookOne) await this.#retryNow(this.#failing.takeEarly(host));
    } catch (error) {
      this.#dependencies.report('Could not record a delivery', { taskId, configId: id, error });
      const waitMs = backoffMs(1, backoffOf(push.options.retry), clock.random);
      // It may be at a later update by now, with which no attempt has failed.
      await this.#giveBack(delivery, waitMs, 0).catch(() => {});
    }
  }

  /** Tries failing webhooks at once. Never rejects: they have a time of their own. */
  async #retryNow(waiting: readonly PushConfigName[]): Promise<void> {
    const { push, report } = this.#dependencies;
    try {
      for (let n = 0; n < waiting.length; n += retriedAtOnce)
        await push.store.retryNow(waiting.slice(n, n + retriedAtOnce));
    } catch (error) {
      report('Could not retry webhooks', { error });
    }
  }

  /** The host has its share: puts the delivery back into the queue, for longer if the host does not answer. */
  async #postpone(delivery: Delivery, host: string): Promise<void> {
    const { push, clock } = this.#dependencies;
    const { pollMs } = this.#dependencies.options;
    const failures = this.#shares.failures(host);
    const wait =
      failures > 0
        ? backoffMs(Math.min(failures, failuresThatCount) + 1, backoffOf(push.options.retry), clock.random)
        : pollMs * clock.random();
    if (failures > 0) this.#failing.postponed(delivery.push);
    await this.#giveBack(delivery, wait);
    this.#claimIn(wait);
  }

  /** Claims again after `ms` milliseconds, if that is before the next poll. */
  #claimIn(ms = Number.POSITIVE_INFINITY): void {
    const { clock } = this.#dependencies;
    const { pollMs } = this.#dependencies.options;
    if (ms < pollMs) void clock.sleep(ms + 1, this.#stop.signal, 'idle').then(() => this.#notified.abort());
  }
}

/** Whether other processes sign. One that cannot leaves all deliveries to them. */
const sign = async (peers: Peers, knownForMs: number): Promise<boolean> =>
  (await peers.others(knownForMs)).some(({ push }) => push?.signs);
