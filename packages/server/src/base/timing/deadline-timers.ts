import { LinkedList, type ListNode } from '../linked-list.ts';
import type { Clock } from './clock.ts';

/** `expire` is called when the time is over. Not a function: each stream would have to keep a closure. */
export interface Expiring {
  expire(): void;
}

interface Deadline {
  readonly until: number;
  readonly target: Expiring;
}

type Deadlines = ReturnType<typeof ofLength>;

/**
 * Deadlines of the same length, in the order in which they expire, with one timer for all: a timer for each would cost
 * more than the call that it guards.
 */
function ofLength(ms: number, clock: Clock) {
  const waiting = new LinkedList<Deadline>();
  let ticking = false;

  async function tick(): Promise<void> {
    ticking = true;
    // Only the time is held while it sleeps: a removed deadline and everything that it captures can be collected.
    for (let until = waiting.first?.until; until !== undefined; until = waiting.first?.until) {
      await clock.sleep(Math.max(1, until - clock.monotonic()), undefined, 'idle');
      expire(clock.monotonic());
    }
    ticking = false;
  }

  function expire(now: number): void {
    for (let late = waiting.first; late && late.until <= now; late = waiting.first) {
      waiting.removeFirst();
      late.target.expire();
    }
  }

  return {
    /** Calls `expire` of the object when the time is over, unless it was removed by then. */
    add(target: Expiring): ListNode<Deadline> {
      const node = waiting.add({ until: clock.monotonic() + ms, target });
      if (!ticking) void tick();
      return node;
    },
    remove: (node: ListNode<Deadline>): void => void waiting.remove(node),
  };
}

const known = new WeakMap<Clock, Map<number, Deadlines>>();

/** The deadlines of a clock that expire after `ms` milliseconds. `ms` must be one of few values: they are kept forever. */
export const deadlinesOf = (ms: number, clock: Clock): Deadlines =>
  known.get(clock)?.get(ms) ?? begin(ms, clock);

function begin(ms: number, clock: Clock): Deadlines {
  const deadlines = ofLength(ms, clock);
  known.set(clock, (known.get(clock) ?? new Map<number, Deadlines>()).set(ms, deadlines));
  return deadlines;
}

/** A smaller difference between two clocks is one of their rates, or a wait between two readings. In milliseconds. */
const smallestStepMs = 1_000;

/**
 * Notices that the wall clock was set, by a clock that is never set. Returns by how many milliseconds it was set since the last
 * call; 0 if it was not. Negative: back.
 */
export function clockSteps({ now, monotonic }: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const read = () => now() - monotonic();
  let last = read();
  return () => {
    const before = last;
    last = read();
    const byMs = last - before;
    return Math.abs(byMs) < smallestStepMs ? 0 : Math.round(byMs);
  };
}

/** An `AbortController` that is made when its signal is first read: most turns need none. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #reason: unknown;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Throws the reason if it was aborted. */
  throwIfAborted(): void {
    if (this.aborted) throw this.#reason;
  }

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }
}
