import type { Unsubscribe } from '@batonjs/store';
import type { Subscribers, Topic } from '@batonjs/store/adapter';
import type { FileChanges } from './file-changes.ts';

// How often the file is read for changes of other processes, in milliseconds. Busy: after a change, and while a task is
// followed, whose next update another process may be about to write.
const busyMs = 10;
const idleMs = 25;

/** Reads changes of other processes from the file while there are subscribers. */
export class Sweep {
  readonly #subscribers: Subscribers;
  readonly #changes: FileChanges;
  readonly #shared: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isIdle = true;
  /** How many subscriptions are on tasks. */
  #onTasks = 0;

  /** `shared`: whether other processes can write to the database at all. */
  constructor(subscribers: Subscribers, changes: FileChanges, shared: boolean) {
    this.#subscribers = subscribers;
    this.#changes = changes;
    this.#shared = shared;
  }

  subscribe(topic: Topic, notify: (version?: number) => void): Unsubscribe {
    const remove = this.#subscribers.add(topic, notify);
    const onTasks = 'taskId' in topic ? 1 : 0;
    try {
      if (this.#shared) this.#begin(onTasks > 0);
    } catch (error) {
      remove();
      throw error;
    }
    this.#onTasks += onTasks;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#onTasks -= onTasks;
      remove();
      if (this.#subscribers.isEmpty) this.stop();
    };
  }

  #begin(isBusy: boolean): void {
    if (this.#timer === undefined) this.#changes.start();
    // Does not restart a short timer: many subscriptions would postpone the sweep forever.
    else if (!isBusy || !this.#isIdle) return;
    this.#sweepSoon(isBusy);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sweepSoon(isBusy: boolean): void {
    clearTimeout(this.#timer);
    this.#isIdle = !isBusy;
    // Subscribers alone do not keep the process alive.
    this.#timer = setTimeout(() => this.#sweep(), isBusy ? busyMs : idleMs).unref();
  }

  #sweep(): void {
    let changed = true;
    try {
      changed = this.#changes.refresh();
    } catch {
      // The file is locked or fails just now. The next sweep finds the same changes; calls report the error.
    }
    if (this.#timer !== undefined) this.#sweepSoon(changed || this.#onTasks > 0);
  }
}
