import type { Clock } from './clock.ts';
import { LinkedList, type Place } from './linked-list.ts';

/** Somebody who waits. */
interface Deadline {
  readonly until: number;
  readonly expire: () => void;
}

/**
 * Those who were given the same time, in the order in which they run out of it, with one timer for all: a timer of its own
 * would cost each more than what it waits for.
 */
class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  readonly #waiting = new LinkedList<Deadline>();
  #ticking = false;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Calls `expire` when the time is over, unless it was removed by then. */
  add(expire: () => void): Place<Deadline> {
    const place = this.#waiting.add({ until: this.#clock.monotonic() + this.#ms, expire });
    if (!this.#ticking) void this.#tick();
    return place;
  }

  remove(place: Place<Deadline>): void {
    this.#waiting.remove(place);
  }

  async #tick(): Promise<void> {
    this.#ticking = true;
    // Only the time is kept while it sleeps: who waits may be gone by then, and all that they hold with them.
    for (let until = this.#waiting.first?.until; until !== undefined; until = this.#waiting.first?.until) {
      await this.#clock.sleep(Math.max(1, until - this.#clock.monotonic()));
      this.#expire(this.#clock.monotonic());
    }
    this.#ticking = false;
  }

  #expire(now: number): void {
    for (let late = this.#waiting.first; late && late.until <= now; late = this.#waiting.first) {
      this.#waiting.removeFirst();
      late.expire();
    }
  }
}

const known = new WeakMap<Clock, Map<number, Deadlines>>();

/** The deadlines of a clock after so many milliseconds: one of few values. */
export function deadlinesOf(ms: number, clock: Clock): Deadlines {
  return known.get(clock)?.get(ms) ?? begin(ms, clock);
}

function begin(ms: number, clock: Clock): Deadlines {
  const deadlines = new Deadlines(ms, clock);
  known.set(clock, (known.get(clock) ?? new Map<number, Deadlines>()).set(ms, deadlines));
  return deadlines;
}
