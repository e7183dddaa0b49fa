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
