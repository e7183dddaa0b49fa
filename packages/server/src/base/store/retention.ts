import { mustBePositive } from '../defaults.ts';
import { isoTime } from '../timing/clock.ts';
import type { RetentionRule } from './retention-rules.ts';
import { Rounds } from './rounds.ts';
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

/** The pause between two deletions, in milliseconds. */
const pauseMs = { least: 5, most: 1_000 };

/** Deletes old tasks from time to time, one process of all on a store at a time. */
export class Retention extends Rounds {
  readonly #source: StoreSource;
  readonly #options: Required<Omit<RetentionOptions, 'rules'>>;

  constructor(source: StoreSource, { closedAfterMs, everyMs = 60_000, batch = 50 }: RetentionOptions) {
    mustBePositive('retention', { closedAfterMs, everyMs, batch });
    super(source, { name: 'retention', what: 'tasks', everyMs });
    this.#source = source;
    this.#options = { closedAfterMs, everyMs, batch };
  }

  protected async round(first: number): Promise<void> {
    const { store, clock, logger } = this.#source;
    const { closedAfterMs, batch: limit } = this.#options;
    let revision: number | undefined = first;
    let renewedAt = clock.monotonic();
    let deleted = 0;
    let some = limit;
    while (some >= limit && !this.signal.aborted) {
      const since = clock.monotonic();
      if (since - renewedAt > this.ttlMs / 3) {
        revision = await this.take(revision);
        // Another process has it, and goes on.
        if (revision === undefined) break;
        renewedAt = since;
      }
      some = await store.prune({ closedBefore: isoTime(clock.now() - closedAfterMs), limit });
      deleted += some;
      const tookMs = clock.monotonic() - since;
      const pause = Math.min(pauseMs.most, Math.max(pauseMs.least, 4 * tookMs));
      if (some >= limit) await clock.sleep(pause, this.signal, 'idle');
    }
    if (deleted > 0) logger('info', 'Old tasks were deleted', { deleted });
  }
}
