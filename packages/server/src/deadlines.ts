import type { Clock } from './clock.ts';

/** Somebody who waits. */
interface Deadline {
  readonly until: number;
  readonly expire: () => void;
  before: Deadline | undefined;
  after: Deadline | undefined;
  over: boolean;
}

/**
 * Those who were given the same time, in the order in which they run out of it, with one timer for all: a timer of its own
 * would cost each more than what it waits for. A linked list, because nearly all leave it again within a moment.
 */
class Deadlines {
  readonly #ms: number;
  readonly #clock: Clock;
  #first: Deadline | undefined;
  #last: Deadline | undefined;
  #ticking = false;

  constructor(ms: number, clock: Clock) {
    this.#ms = ms;
    this.#clock = clock;
  }

  /** Calls `expire` when the time is over, unless it was removed by then. */
  add(expire: () => void): Deadline {
    const until = this.#clock.monotonic() + this.#ms;
    const deadline: Deadline = { until, expire, before: this.#last, after: undefined, over: false };
    if (this.#last) this.#last.after = deadline;
    else this.#first = deadline;
    this.#last = deadline;
    if (!this.#ticking) void this.#tick();
    return deadline;
  }

  remove(deadline: Deadline): void {
    if (deadline.over) return;
    deadline.over = true;
    const { before, after } = deadline;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
  }

  async #tick(): Promise<void> {
    this.#ticking = true;
    for (let next = this.#first; next; next = this.#first) {
      await this.#clock.sleep(Math.max(1, next.until - this.#clock.monotonic()));
      const now = this.#clock.monotonic();
      for (let late = this.#first; late && late.until <= now; late = this.#first) {
        this.remove(late);
        late.expire();
      }
    }
    this.#ticking = false;
  }
}

const known = new WeakMap<Clock, Map<number, Deadlines>>();

/** The deadlines of a clock after so many milliseconds: one of few values. */
export function deadlinesOf(ms: number, clock: Clock): Deadlines {
  const ofClock = known.get(clock) ?? new Map<number, Deadlines>();
  known.set(clock, ofClock);
  const deadlines = ofClock.get(ms) ?? new Deadlines(ms, clock);
  ofClock.set(ms, deadlines);
  return deadlines;
}
