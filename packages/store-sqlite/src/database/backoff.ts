const longestMs = 40;

/** How long a call that found the file held by another process waits before it tries again. */
export class Backoff {
  readonly #end: number;
  #attempts = 0;

  constructor(maxWaitMs: number) {
    this.#end = performance.now() + maxWaitMs;
  }

  /** Whether it waited long enough to give up. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Milliseconds to wait now: longer each time, and random, so that processes do not meet again. */
  nextMs(): number {
    const ms = Math.min(longestMs, 2 ** this.#attempts++);
    return ms / 2 + Math.random() * (ms / 2);
  }
}
