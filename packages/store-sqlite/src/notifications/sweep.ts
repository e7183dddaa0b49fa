import type { Topic, Unsubscribe } from '@batonjs/store';
import type { Changes } from './changes.ts';
import type { Bells } from './subscribers.ts';

// How often the file is looked at for what other processes wrote, in milliseconds.
const busyMs = 10;
const idleMs = 25;

/** Looks at the file now and then while somebody watches, and only then. */
export class Watch {
  readonly #bells: Bells;
  readonly #changes: Changes;
  readonly #shared: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `shared`: whether other processes can write to the database at all. */
  constructor(bells: Bells, changes: Changes, shared: boolean) {
    this.#bells = bells;
    this.#changes = changes;
    this.#shared = shared;
  }

  start(topic: Topic, notify: (version?: number) => void): Unsubscribe {
    const unhang = this.#bells.hang(topic, notify);
    try {
      if (this.#shared && this.#timer === undefined) {
        this.#changes.start();
        this.#lookIn(idleMs);
      }
    } catch (error) {
      unhang();
      throw error;
    }
    return () => {
      unhang();
      if (!this.#bells.watched) this.stop();
    };
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookIn(ms: number): void {
    // Whoever watches has something else that keeps the process alive, or does not want it kept alive.
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    let changed = true;
    try {
      changed = this.#changes.look();
    } catch {
      // The file is locked or failing just now. The next look finds the same; calls that need it say what is wrong.
    }
    if (this.#timer !== undefined) this.#lookIn(changed ? busyMs : idleMs);
  }
}
