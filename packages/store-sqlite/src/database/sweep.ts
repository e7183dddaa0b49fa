import type { Topic, Unsubscribe } from '@batonjs/store';
import type { Subscribers } from '../notifications/subscribers.ts';
import type { FileChanges } from './file-changes.ts';

// How often the file is read for changes of other processes, in milliseconds.
const busyMs = 10;
const idleMs = 25;

/** Reads changes of other processes from the file while there are subscribers. */
export class Sweep {
  readonly #subscribers: Subscribers;
  readonly #changes: FileChanges;
  readonly #shared: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `shared`: whether other processes can write to the database at all. */
  constructor(subscribers: Subscribers, changes: FileChanges, shared: boolean) {
    this.#subscribers = subscribers;
    this.#changes = changes;
    this.#shared = shared;
  }

  subscribe(topic: Topic, notify: (version?: number) => void): Unsubscribe {
    const remove = this.#subscribers.add(topic, notify);
    try {
      if (this.#shared && this.#timer === undefined) {
        this.#changes.start();
        this.#sweepIn(idleMs);
      }
    } catch (error) {
      remove();
      throw error;
    }
    return () => {
      remove();
      if (this.#subscribers.isEmpty) this.stop();
    };
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sweepIn(ms: number): void {
    // Subscribers alone do not keep the process alive.
    this.#timer = setTimeout(() => this.#sweep(), ms).unref();
  }

  #sweep(): void {
    let changed = true;
    try {
      changed = this.#changes.refresh();
    } catch {
      // The file is locked or fails just now. The next sweep finds the same changes; calls report the error.
    }
    if (this.#timer !== undefined) this.#sweepIn(changed ? busyMs : idleMs);
  }
}
