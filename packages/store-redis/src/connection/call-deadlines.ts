const sweepEveryMs = 100;

/** Rejects promises that take too long. One timer for all costs less than a timer for each. */
export class CallDeadlines {
  readonly #ms: number;
  /** In the order of their ends, because all have the same time limit. */
  readonly #waiting = new Set<{ readonly end: number; readonly giveUp: () => void }>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `ms`: how long each may take. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** The promise, or a rejection: with `late()` when it takes too long, with `failed(error)` when it rejects. */
  within<T>(promise: Promise<T>, late: () => unknown, failed: (error: unknown) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = { end: performance.now() + this.#ms, giveUp: () => reject(late()) };
      this.#waiting.add(entry);
      this.#timer ??= setInterval(() => this.#sweep(), sweepEveryMs);
      promise.then(
        (value) => {
          this.#waiting.delete(entry);
          resolve(value);
        },
        (error) => {
          this.#waiting.delete(entry);
          reject(failed(error));
        },
      );
    });
  }

  #sweep(): void {
    const now = performance.now();
    for (const entry of this.#waiting) {
      if (entry.end > now) return;
      this.#waiting.delete(entry);
      entry.giveUp();
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
