const lookEveryMs = 100;

/** Gives up on promises that take too long, at less cost than a timer for each. */
export class CallDeadlines {
  readonly #ms: number;
  /** In the order of their ends, because all are given the same time. */
  readonly #waiting = new Set<{ readonly end: number; readonly giveUp: () => void }>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** `ms`: how long each may take. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** What the promise comes to, or a rejection: with what `late` returns, or what `failed` makes of the promise's own. */
  within<T>(promise: Promise<T>, late: () => unknown, failed: (error: unknown) => unknown): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry = { end: performance.now() + this.#ms, giveUp: () => reject(late()) };
      this.#waiting.add(entry);
      this.#timer ??= setInterval(() => this.#look(), lookEveryMs);
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

  #look(): void {
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
