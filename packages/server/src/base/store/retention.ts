import type { Head } from '@batonjs/lifecycle';
import { mustBePositive } from '../timeouts.ts';
import { isoTime } from '../timing/clock.ts';
import type { StoreSource } from './records.ts';
import { Rounds } from './rounds.ts';

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
  readonly #options: Required<Pick<RetentionOptions, 'closedAfterMs' | 'batch'>>;

  constructor(source: StoreSource, { closedAfterMs, everyMs = 60_000, batch = 50 }: RetentionOptions) {
    mustBePositive('retention', { closedAfterMs, everyMs, batch });
    super(source, { name: 'retention', what: 'tasks', everyMs });
    this.#source = source;
    this.#options = { closedAfterMs, batch };
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

/** How long some tasks are kept: those for which all of its conditions hold. */
export interface RetentionRule {
  /** Tasks that have this label when they end. */
  readonly label?: string;
  /** Tasks one of whose messages named the skill with this id. */
  readonly skill?: string;
  /** As `closedAfterMs` above. `Infinity`: for 200 years. */
  readonly closedAfterMs: number;
}

/** 200 years: a time that every store can keep and compare. */
const longestMs = 200 * 365 * 24 * 60 * 60 * 1_000;

/**
 * How much longer than others a task is kept that ended with this head, in milliseconds; negative: shorter. The first rule
 * that fits counts.
 */
function keptLonger(
  closedAfterMs: number,
  rules: readonly RetentionRule[],
  { labels, skills }: Head,
): number | undefined {
  const rule = rules.find(
    ({ label, skill }) =>
      (label === undefined || labels?.includes(label)) && (skill === undefined || skills?.includes(skill)),
  );
  if (!rule) return undefined;
  return Math.min(rule.closedAfterMs, longestMs) - Math.min(closedAfterMs, longestMs);
}

/** `keptLonger` by these rules, if there are any: a task that ends asks for none else. Throws `TypeError` for rules that cannot work. */
export function rulesOf(
  { closedAfterMs, rules }: { closedAfterMs: number; rules?: readonly RetentionRule[] } = {
    closedAfterMs: 0,
  },
): ((head: Head) => number | undefined) | undefined {
  if (rules === undefined) return undefined;
  if (!Array.isArray(rules)) throw new TypeError('`retention.rules` must be an array');
  for (const [n, rule] of rules.entries()) {
    const name = `retention.rules[${n}]`;
    mustBePositive(name, { closedAfterMs: Object(rule).closedAfterMs });
    if (rule.label === undefined && rule.skill === undefined)
      throw new TypeError(`\`${name}\` needs \`label\` or \`skill\``);
  }
  return rules.length === 0 ? undefined : (head) => keptLonger(closedAfterMs, rules, head);
}
