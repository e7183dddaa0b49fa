import { StoreError } from '@batonjs/store';
import type { Clock } from './clock.ts';

interface Pending {
  readonly until: number;
  readonly expire: () => void;
}

/** Calls that were given the same time, in the order in which they run out of it. */
class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #pending = new Set<Pending>();
  #ticking = false;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  add(expire: () => void): () => void {
    const pending = { until: this.#clock.monotonic() + this.#ms, expire };
    this.#pending.add(pending);
    if (!this.#ticking) void this.#tick();
    return () => void this.#pending.delete(pending);
  }

  /** One timer for all: a commit must not pay for a timer of its own that is nearly never needed. */
  async #tick(): Promise<void> {
    this.#ticking = true;
    while (this.#pending.size > 0) {
      await this.#clock.sleep(this.#ms / 4);
      const now = this.#clock.monotonic();
      for (const pending of this.#pending) {
        if (pending.until > now) break;
        this.#pending.delete(pending);
        pending.expire();
      }
    }
    this.#ticking = false;
  }
}

const known = new WeakMap<Clock, Map<number, Deadlines>>();

function deadlinesOf(ms: number, clock: Clock): Deadlines {
  const ofClock = known.get(clock) ?? new Map<number, Deadlines>();
  known.set(clock, ofClock);
  const deadlines = ofClock.get(ms) ?? new Deadlines(ms, clock);
  ofClock.set(ms, deadlines);
  return deadlines;
}

/**
 * Gives a store call so many milliseconds, and up to a quarter more; then it rejects as `UNAVAILABLE`, whatever becomes
 * of it later. `ms` is one of few values.
 */
export function bounded<T>(call: Promise<T>, ms: number, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = deadlinesOf(ms, clock).add(() => {
      reject(new StoreError('UNAVAILABLE', `The store did not answer within ${ms} ms`));
    });
    call.then(
      (value) => {
        done();
        resolve(value);
      },
      (error) => {
        done();
        reject(error);
      },
    );
  });
}
