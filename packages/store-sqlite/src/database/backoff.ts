const longestMs = 40;

/** The waits between the attempts of a call that finds the file locked by another process. */
export class Backoff {
  readonly #end: number;
  #attempts = 0;

  constructor(maxWaitMs: number) {
    this.#end = performance.now() + maxWaitMs;
  }

  /** Whether the time is over and the call gives up. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Milliseconds until the next attempt: longer each time, and random, so that processes do not collide again. */
  nextMs(): number {
    const ms = Math.min(longestMs, 2 ** this.#attempts++);
    return ms / 2 + Math.random() * (ms / 2);
  }
}
