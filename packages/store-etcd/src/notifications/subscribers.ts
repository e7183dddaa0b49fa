import { callSubscriber } from '@batonjs/store';

type Notify = (version?: number) => void;

/** The subscribers of one topic. */
export class Subscribers {
  readonly #all = new Set<{ readonly notify: Notify }>();
  #notifiedOf = 0;

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  /** Returns the function that unsubscribes. */
  add(notify: Notify): () => void {
    const subscriber = { notify };
    this.#all.add(subscriber);
    return () => void this.#all.delete(subscriber);
  }

  /**
   * `revision`: that of the cluster at the change. The same change may be announced by its writer and by the watch: the
   * second is left out. `version`: how long the log of the task is.
   */
  notify(revision: number, version?: number): void {
    if (revision <= this.#notifiedOf) return;
    this.#notifiedOf = revision;
    this.notifyAnyway(version);
  }

  notifyAnyway(version?: number): void {
    for (const { notify } of this.#all) callSubscriber(notify, version);
  }
}
