import { isoTime } from '../timing/clock.ts';
import type { RetentionRule } from './retention-rules.ts';
import type { StoreSource } from './store-source.ts';

/** How long tasks are kept that have ended. All times in milliseconds. */
export interface RetentionOptions {
  /**
   * A task is deleted once its end, or its answer with a message, is older than this, unless a webhook is still to be
   * notified. It goes for the tasks of all agents on the store.
   */
  readonly closedAfterMs: number;
  /**
   * Other times for tasks with a label or a skill: the first rule that fits counts. Goes for tasks that end from then on,
   * by the rules of the process that ends them. Default none.
   */
  readonly rules?: readonly RetentionRule[];
  /** How often the store is searched for such tasks, by one process at a time. Default 60,000. */
  readonly everyMs?: number;
  /** How many tasks are deleted at once. A pause follows each time: four times as long as it took,
   * and a second at most. Default 50. */
  readonly batch?: number;
}

/** The record of the right to delete: who puts it first has it, while it lasts. */
const name = 'retention';

/** The shortest time between two questions of one process, in parts of `everyMs`; the right lasts as long. */
const shortest = 0.75;

/** The pause between two deletions, in milliseconds. */
const pauseMs = { least: 5, most: 1_000 };

/**
 * Deletes old tasks from time to time. Among all processes on a store one at a time does: whose record it is, which is
 * never given back. Its time ends, and then the next process that asks has it.
 */
export class Retention {
  readonly #source: StoreSource;
  readonly #options: Required<Omit<RetentionOptions, 'rules'>>;
  readonly #stop = new AbortController();
  #over: Promise<void> | undefined;

  constructor(source: StoreSource, { closedAfterMs, everyMs = 60_000, batch = 50 }: RetentionOptions) {
    this.#source = source;
    this.#options = { closedAfterMs, everyMs, batch };
  }

  start(): void {
    this.#over = this.#loop();
  }

  /** Resolves when the deletion that is under way has ended. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }

  async #loop(): Promise<void> {
    const { clock, report } = this.#source;
    const { everyMs } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const revision = await this.#put(0);
        if (revision !== undefined) await this.#deleteAll(revision);
      } catch (error) {
        report('Could not delete old tasks', { error });
      }
      // At random intervals, so that many processes do not all ask at the same moment.
      await clock.sleep(everyMs * (shortest + clock.random() / 2), signal, 'idle');
    }
  }

  /** The revision of the record; undefined if another process has it. */
  #put(revision: number): Promise<number | undefined> {
    const ttlMs = this.#options.everyMs * shortest;
    return this.#source.store.putRecord(name, revision, {}, { ttlMs });
  }

  async #deleteAll(first: number): Promise<void> {
    const { store, clock, logger } = this.#source;
    const { closedAfterMs, batch: limit } = this.#options;
    const ttlMs = this.#options.everyMs * shortest;
    const { signal } = this.#stop;
    let revision: number | undefined = first;
    let renewedAt = clock.monotonic();
    let deleted = 0;
    let some = limit;
    while (some >= limit && !signal.aborted) {
      const since = clock.monotonic();
      if (since - renewedAt > ttlMs / 3) {
        revision = await this.#put(revision);
        // Another process has it, and goes on.
        if (revision === undefined) break;
        renewedAt = since;
      }
      some = await store.prune({ closedBefore: isoTime(clock.now() - closedAfterMs), limit });
      deleted += some;
      const tookMs = clock.monotonic() - since;
      const pause = Math.min(pauseMs.most, Math.max(pauseMs.least, 4 * tookMs));
      if (some >= limit) await clock.sleep(pause, signal, 'idle');
    }
    if (deleted > 0) logger('info', 'Old tasks were deleted', { deleted });
  }
}
