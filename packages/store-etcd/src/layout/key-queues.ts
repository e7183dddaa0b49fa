/** Runs the changes of a task one after the other, so that they do not make each other fail. */
export class KeyQueues {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Waits for the changes of all these tasks that were given before. */
  run<T>(tasks: readonly string[], change: () => Promise<T>): Promise<T> {
    const before = tasks.flatMap((task) => this.#last.get(task) ?? []);
    const running = before.length === 0 ? change() : Promise.allSettled(before).then(change);
    for (const task of tasks) this.#last.set(task, running);
    const done = () => {
      for (const task of tasks) if (this.#last.get(task) === running) this.#last.delete(task);
    };
    running.then(done, done);
    return running;
  }
}
