import { admit, type Committed, factsInOrder, granted, mustHaveRoom, StoreError } from '@batonjs/store';
import { keyOf } from '../database/keys.ts';
import type { PreparedCommit } from './prepared-commit.ts';
import { isWaiting, stateOf, type TaskRow, waitingSinceOf } from './task-row.ts';
import { TotalChanges } from './totals.ts';

/** What was read, under locks, for the commits of one transaction. */
export interface Known {
  readonly rows: readonly TaskRow[];
  /** The positions of `once` keys that were used before, by `onceName`. */
  readonly once: Map<string, number>;
  /** How many tasks wait in each queue that a commit bounds. */
  readonly waiting: Map<string, number>;
  /** The keys of new tasks that have webhooks already. */
  readonly pushed: ReadonlySet<string>;
  /** The time of the database's clock. */
  readonly now: number;
}

export const onceName = (key: string, onceKey: string): string => `${key} ${onceKey}`;

/** What a commit of the group resolves to or rejects with. */
export type Outcome = { readonly committed: Committed } | { readonly refusal: StoreError };

interface FactRow {
  readonly key: string;
  readonly version: number;
  readonly commitId: string;
  readonly fact: string;
}

/** Decides the commits of one transaction one after the other, in memory, and collects their writes. */
export class CommitGroup {
  readonly facts: FactRow[] = [];
  readonly once: { key: string; onceKey: string; version: number }[] = [];
  readonly snapshots = new Map<string, { readonly version: number; readonly json: string }>();
  readonly totals = new TotalChanges();
  /** Tasks with new facts. */
  readonly longer = new Set<string>();
  /** Queues in which a task wants a turn. */
  readonly queues = new Set<string>();
  readonly #known: Known;
  readonly #before: ReadonlyMap<string, TaskRow>;
  readonly #after = new Map<string, TaskRow>();

  constructor(known: Known) {
    this.#known = known;
    this.#before = new Map(known.rows.map((row) => [row.key, row]));
  }

  /** The rows to write, in the order in which all transactions write them. */
  get written(): TaskRow[] {
    return [...this.#after.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The tasks with new facts, as they are afterwards. */
  get touched(): TaskRow[] {
    return [...this.longer].map((key) => this.#after.get(key)!);
  }

  decide(prepared: PreparedCommit): Outcome {
    try {
      return { committed: this.#admit(prepared) };
    } catch (error) {
      if (!StoreError.is(error)) throw error;
      return { refusal: error };
    }
  }

  #admit({ commit, key, onceKey, facts, lastAt, snapshot }: PreparedCommit): Committed {
    const { once, now, waiting } = this.#known;
    const { scope, taskId, commitId, turn } = commit;
    const used = onceKey === undefined ? undefined : once.get(onceName(key, onceKey));
    if (used !== undefined) return { version: used, repeated: true };
    const before = this.#after.get(key) ?? this.#before.get(key);
    const row = admit(before?.row, commit, now);
    mustHaveRoom(row, commit, (queue) => waiting.get(queue) ?? 0);

    const isOpen = commit.expectedVersion === 'open';
    const ordered = isOpen ? factsInOrder(commit, before?.lastAt) : undefined;
    let version = before?.row.version ?? 0;
    if (onceKey !== undefined) {
      once.set(onceName(key, onceKey), version + 1);
      this.once.push({ key, onceKey, version: version + 1 });
    }
    const texts = ordered ? ordered.map((fact) => JSON.stringify(fact)) : facts;
    for (const fact of texts) this.facts.push({ key, version: ++version, commitId, fact });
    if (snapshot) this.snapshots.set(key, snapshot);
    this.#count(scope, before, row);
    this.#after.set(key, {
      key,
      scope,
      taskId,
      revision: before?.revision ?? 0,
      row,
      lastAt: (ordered ? ordered.at(-1)?.at : lastAt) ?? before?.lastAt ?? '',
      waitingSince: waitingSinceOf(row, before?.waitingSince, now),
      hasPush: before?.hasPush ?? this.#known.pushed.has(key),
    });
    if (facts.length > 0) this.longer.add(key);
    if (turn?.want && isWaiting(row)) this.queues.add(row.queue!);
    return { version, lease: granted(row, commit) };
  }

  #count(scope: string, before: TaskRow | undefined, row: TaskRow['row']): void {
    const { waiting } = this.#known;
    const add = (queue: string, tasks: number) => waiting.set(queue, (waiting.get(queue) ?? 0) + tasks);
    if (before && isWaiting(before.row)) add(before.row.queue!, -1);
    if (isWaiting(row)) add(row.queue!, 1);
    const [was, is] = [before && stateOf(before.row), stateOf(row)];
    if (was === is) return;
    const scopeKey = keyOf(scope);
    if (was !== undefined) this.totals.add(scopeKey, was, -1);
    this.totals.add(scopeKey, is, 1);
  }
}
