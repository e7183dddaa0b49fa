import type { Clock } from './clock.ts';

/** A smaller difference between two clocks is one of their rates, or a wait between two readings. In milliseconds. */
const smallestStepMs = 1_000;

/** Notices that the wall clock was set, by a clock that is never set. */
export class ClockSteps {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  #difference: number;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
    this.#difference = this.#read();
  }

  /** By how many milliseconds the wall clock was set since the last call; 0 if it was not. Negative: back. */
  next(): number {
    const difference = this.#read();
    const byMs = difference - this.#difference;
    this.#difference = difference;
    return Math.abs(byMs) < smallestStepMs ? 0 : Math.round(byMs);
  }

  #read(): number {
    const { now, monotonic } = this.#clock;
    return now() - monotonic();
  }
}
