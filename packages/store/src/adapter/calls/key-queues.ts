/** Runs the changes of a key one after the other, so that they do not make each other fail. */
export class KeyQueues {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Waits for the changes of all these keys that were given before. */
  run<T>(keys: readonly string[], change: () => Promise<T>): Promise<T> {
    const before = keys.flatMap((key) => this.#last.get(key) ?? []);
    const running = before.length === 0 ? change() : Promise.allSettled(before).then(change);
    for (const key of keys) this.#last.set(key, running);
    const done = () => {
      for (const key of keys) if (this.#last.get(key) === running) this.#last.delete(key);
    };
    running.then(done, done);
    return running;
  }
}
