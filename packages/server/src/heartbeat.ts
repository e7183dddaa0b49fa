import { type Lease, StoreError } from '@batonjs/store';
import { LinkedList, type Place } from './linked-list.ts';
import type { RunSettings } from './settings.ts';

interface Held {
  readonly lease: Lease;
  /** Until when the lease surely lives, on the monotonic clock. */
  until: number;
  readonly lost: () => void;
}

/** Keeps the leases of this process alive, and tells their holders when one is lost or may be. */
export class Heartbeat {
  readonly #settings: RunSettings;
  readonly #held = new LinkedList<Held>();
  #beating = false;

  constructor(settings: RunSettings) {
    this.#settings = settings;
  }

  /** `since`: the monotonic time before the lease was asked for. `lost` is called at most once. */
  add(lease: Lease, since: number, lost: () => void): Place<Held> {
    const place = this.#held.add({ lease, until: since + this.#settings.leaseMs, lost });
    if (!this.#beating) void this.#beat();
    return place;
  }

  remove(place: Place<Held>): void {
    this.#held.remove(place);
  }

  async #beat(): Promise<void> {
    const { clock, leaseMs } = this.#settings;
    this.#beating = true;
    while (this.#held.size > 0) {
      await clock.sleep(Math.min(leaseMs / 3, this.#left()));
      this.#loseDoubtful();
      if (this.#held.size > 0) await this.#renew();
      this.#loseDoubtful();
    }
    this.#beating = false;
  }

  /** Milliseconds for which all leases surely live. A holder stops early rather than late. */
  #left(): number {
    const { clock, leaseMs } = this.#settings;
    let soonest = Number.POSITIVE_INFINITY;
    for (const { until } of this.#held) soonest = Math.min(soonest, until);
    return Math.max(1, soonest - leaseMs / 10 - clock.monotonic());
  }

  async #renew(): Promise<void> {
    const { store, clock, leaseMs, log } = this.#settings;
    const places = this.#held.places();
    const leases = [...this.#held].map(({ lease }) => lease);
    const asked = clock.monotonic();
    try {
      const kept = await this.#atMost(Math.min(leaseMs / 3, this.#left()), store.renew(leases, leaseMs));
      const keys = new Set(kept.map(keyOf));
      for (const place of places) {
        if (!place.item) continue;
        if (keys.has(keyOf(place.item.lease))) place.item.until = asked + leaseMs;
        else this.#lose(place);
      }
    } catch (error) {
      log('error', 'Could not renew leases', { leases: leases.length, error });
    }
  }

  /** To the millisecond: a late answer is no answer here. */
  async #atMost<T>(ms: number, call: Promise<T>): Promise<T> {
    const done = new AbortController();
    const late = this.#settings.clock.sleep(ms, done.signal).then(() => undefined);
    const kept = await Promise.race([call, late]).finally(() => done.abort());
    if (kept === undefined)
      throw new StoreError('UNAVAILABLE', `The store did not renew leases within ${ms} ms`);
    return kept;
  }

  #loseDoubtful(): void {
    const { clock, leaseMs } = this.#settings;
    for (const place of this.#held.places()) {
      if (place.item && clock.monotonic() >= place.item.until - leaseMs / 10) this.#lose(place);
    }
  }

  #lose(place: Place<Held>): void {
    const { item: held } = place;
    this.#held.remove(place);
    held?.lost();
  }
}

const keyOf = ({ scope, taskId, fence, holder }: Lease): string => `${fence} ${holder} ${taskId} ${scope}`;
