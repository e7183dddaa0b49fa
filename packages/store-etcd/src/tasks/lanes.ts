/** Runs the writes of one task one after the other, so that they do not make each other fail. */
export class Lanes {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(task: string, write: () => Promise<T>): Promise<T> {
    const before = this.#last.get(task);
    const running = before ? before.then(write, write) : write();
    this.#last.set(task, running);
    const done = () => {
      if (this.#last.get(task) === running) this.#last.delete(task);
    };
    running.then(done, done);
    return running;
  }
}
