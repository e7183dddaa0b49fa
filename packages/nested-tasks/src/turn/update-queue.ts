import type { TaskUpdate } from '@batonjs/server';

/** An update that waits to be written. */
export interface Waiting {
  readonly update: TaskUpdate;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** The updates that calls want to write, in order, for the generator that yields them. */
export class UpdateQueue {
  readonly #waiting: Waiting[] = [];
  #onPush: () => void = () => {};

  /** Resolves when the update is in the log. Rejects when it is refused, and with the reason of `signal`. */
  push(update: TaskUpdate, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const abort = () => settle(reject, signal.reason);
      const settle = <T>(end: (value: T) => void, value: T) => {
        signal.removeEventListener('abort', abort);
        end(value);
      };
      signal.addEventListener('abort', abort);
      this.#waiting.push({
        update,
        resolve: () => settle(resolve, undefined),
        reject: (reason) => settle(reject, reason),
      });
      this.#onPush();
    });
  }

  shift(): Waiting | undefined {
    return this.#waiting.shift();
  }

  /** Calls `listener` at each push, and at once if updates wait. */
  onPush(listener: () => void): void {
    this.#onPush = listener;
    if (this.#waiting.length > 0) listener();
  }
}
