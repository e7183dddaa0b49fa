import type { Clock } from '../../base/timing/clock.ts';
import type { LazyAbort } from '../../base/timing/lazy-abort.ts';

/**
 * The longest wait for the next try of a step that a turn sits out, in milliseconds. For a longer one it gives its
 * process back, if the agent may be run again.
 */
export const longestWaitMs = 5_000;

/** What the waits of a turn need. */
export interface WaitDependencies {
  readonly clock: Pick<Clock, 'now' | 'monotonic' | 'sleep'>;
  readonly abort: Pick<LazyAbort, 'signal' | 'throwIfAborted'>;
  /** Ends this attempt of the turn; the next one starts at the time (milliseconds since 1970). Undefined: it cannot. */
  readonly pause: ((until: number) => void) | undefined;
}

/**
 * The steps of a turn that run, and those that wait for their next try. The turn is paused once none of its steps runs:
 * in the middle of one, its effect would be forgotten.
 */
export class StepWaits {
  readonly #dependencies: WaitDependencies;
  readonly #waiting = new Set<{ readonly until: number }>();
  /** How many steps run; those that wait do not. Each counts itself: a call would cost every step. */
  running = 0;
  /** How many steps wait. */
  waiting = 0;

  constructor(dependencies: WaitDependencies) {
    this.#dependencies = dependencies;
  }

  /** Resolves at the time of the monotonic clock. Rejects with the reason of the abort if the turn is over before. */
  async wait(until: number): Promise<void> {
    const { clock, abort } = this.#dependencies;
    const waiting = { until };
    this.#waiting.add(waiting);
    this.waiting++;
    this.running--;
    this.look();
    try {
      // A timer has a longest time.
      for (let ms = until - clock.monotonic(); ms > 0; ms = until - clock.monotonic()) {
        abort.throwIfAborted();
        await clock.sleep(ms, abort.signal);
      }
      abort.throwIfAborted();
    } finally {
      this.#waiting.delete(waiting);
      this.waiting--;
      this.running++;
    }
  }

  /** To be called when a step ended, if others wait: pauses the turn if none runs, and all wait for long. */
  look(): void {
    if (this.running > 0) return;
    const { clock, pause } = this.#dependencies;
    const ms = Math.min(...[...this.#waiting].map(({ until }) => until)) - clock.monotonic();
    if (ms > longestWaitMs) pause?.(Math.ceil(clock.now() + ms));
  }
}
