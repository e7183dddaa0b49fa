import type { Clock } from './clock.ts';

/** Is told when its time is over. */
export interface Expiring {
  expire(): void;
}

/** A place among the deadlines. */
export interface Deadline {
  readonly until: number;
  readonly waiting: Expiring;
}

/**
 * Deadlines of the same length, in the order in which they expire, with one timer for all: a timer for each would cost
 * more than the call that it guards.
 */
class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #waiting = new Set<Deadline>();
  #ticking = false;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Calls `expire` of the object when the time is over, unless it was removed by then. */
  add(waiting: Expiring): Deadline {
    const deadline = { until: this.#clock.monotonic() + this.#ms, waiting };
    this.#waiting.add(deadline);
    if (!this.#ticking) void this.#tick();
    return deadline;
  }

  remove(deadline: Deadline): void {
    this.#waiting.delete(deadline);
  }

  async #tick(): Promise<void> {
    this.#ticking = true;
    // Only the time is held while it sleeps: a removed deadline and everything that it captures can be collected.
    for (let until = this.#next; until !== undefined; until = this.#next) {
      await this.#clock.sleep(Math.max(1, until - this.#clock.monotonic()));
      this.#expire(this.#clock.monotonic());
    }
    this.#ticking = false;
  }

  get #next(): number | undefined {
    return this.#waiting.values().next().value?.until;
  }

  #expire(now: number): void {
    for (const deadline of this.#waiting) {
      if (deadline.until > now) return;
      this.#waiting.delete(deadline);
      deadline.waiting.expire();
    }
  }
}

const known = new WeakMap<Clock, Map<number, Deadlines>>();

/**
 * The deadlines of a clock that expire after `ms` milliseconds. `ms` must be one of few values: they are kept for ever.
 */
export function deadlinesOf(ms: number, clock: Clock): Deadlines {
  return known.get(clock)?.get(ms) ?? begin(ms, clock);
}

function begin(ms: number, clock: Clock): Deadlines {
  const deadlines = new Deadlines(ms, clock);
  known.set(clock, (known.get(clock) ?? new Map<number, Deadlines>()).set(ms, deadlines));
  return deadlines;
}
