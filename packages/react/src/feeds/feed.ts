/** A value that changes, for `useSyncExternalStore`. It works while it has subscribers, and keeps its value without them. */
export abstract class Feed<Value> {
  readonly #listeners = new Set<() => void>();
  #value: Value;
  #running: AbortController | undefined;
  #stopping: ReturnType<typeof setTimeout> | undefined;

  constructor(value: Value) {
    this.#value = value;
  }

  /** The value, the same object until it changes. */
  readonly get = (): Value => this.#value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    clearTimeout(this.#stopping);
    if (!this.#running) {
      this.#running = new AbortController();
      this.start(this.#running.signal);
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      // Not at once: strict mode, and a list that is sorted again, unsubscribe and subscribe again.
      clearTimeout(this.#stopping);
      this.#stopping = setTimeout(() => {
        this.#running?.abort();
        this.#running = undefined;
      }, 0);
    };
  };

  /** Begins to keep the value current, until the signal is aborted. */
  protected abstract start(signal: AbortSignal): void;

  /** Sets the value and notifies the subscribers. */
  protected set(value: Value): void {
    this.#value = value;
    for (const listener of [...this.#listeners]) listener();
  }
}
