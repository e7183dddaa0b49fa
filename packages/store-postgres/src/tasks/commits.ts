import type { DatabaseRow, Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { Raced } from '../database/postgres-error.ts';
import type { Changes } from '../notifications/changes.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { CommitGroup, type Known, type Outcome, onceName } from './commit-group.ts';
import type { PreparedCommit } from './prepared-commit.ts';
import { type TaskRow, type TaskRows, toTaskRow } from './task-row.ts';
import type { Totals } from './totals.ts';

/** The tables that a commit writes besides its own. */
export interface CommitTables {
  readonly rows: TaskRows;
  readonly totals: Totals;
  readonly deliveries: Deliveries;
}

/** Writes groups of commits. Called inside the caller's transaction. */
export class Commits {
  readonly #schema: string;
  readonly #tables: CommitTables;
  readonly #findOnce: string;
  readonly #countWaiting: string;
  readonly #write: string;
  /** The name of its plan: connections may be shared by stores on several schemas. */
  readonly #plan: string;

  constructor(schema: string, tables: CommitTables) {
    this.#schema = schema;
    this.#tables = tables;
    this.#findOnce = `SELECT o.key, o.once_key, o.version FROM ${schema}.once_keys AS o
      JOIN unnest($1::text[], $2::text[]) AS u(key, once_key) ON o.key = u.key AND o.once_key = u.once_key`;
    this.#countWaiting = `SELECT queue_key, sum(tasks) AS tasks FROM ${schema}.waiting
      WHERE queue_key = ANY($1::text[]) GROUP BY queue_key`;
    this.#write = writing(schema, tables);
    this.#plan = `baton_${keyOf(this.#write)}`;
  }

  /** The statements to run first: they find webhooks of tasks that are created, then lock the rows, and return both. */
  opening(commits: readonly PreparedCommit[]): string[] {
    const created = commits.filter(({ commit }) => commit.expectedVersion === 0).map(({ key }) => key);
    // A webhook may be added to a task at the moment in which the task is created: both take this lock.
    const names = [...new Set(created)].sort();
    const lockNew = `SELECT pg_advisory_xact_lock(hashtext(name)) FROM unnest('{${names}}'::text[]) AS names(name)`;
    const lock = this.#tables.rows.locking([...new Set(commits.map(({ key }) => key))]);
    if (names.length === 0) return [lock];
    return [
      lockNew,
      `SELECT DISTINCT key FROM ${this.#schema}.push_configs WHERE key = ANY('{${names}}'::text[])`,
      lock,
    ];
  }

  /** `opened`: the rows that each statement of `opening` returned. Notes in `changes` what to notify of. Outcomes are in order. */
  async write(
    session: Session,
    now: number,
    opened: readonly (readonly DatabaseRow[])[],
    commits: readonly PreparedCommit[],
    changes: Changes,
  ): Promise<Outcome[]> {
    const rows = opened.at(-1)!.map(toTaskRow);
    const pushed = new Set(opened.length > 1 ? opened[1]!.map(({ key }) => String(key)) : []);
    const known = await this.#read(session, rows, commits);
    const group = new CommitGroup({ ...known, rows, pushed, now });
    const outcomes = commits.map((commit) => group.decide(commit));
    const { written, touched } = group;
    if (written.length === 0) return outcomes;

    // One statement: each costs a round trip.
    const values = this.#valuesOf(written, group);
    const [done] = await session.queryPlanned(this.#plan, this.#write, values);
    if (Number(done!.written) !== written.length) throw new Raced();
    for (const { scope, taskId, row } of touched) changes.touch({ scope, taskId }, row.version);
    for (const queue of group.queues) changes.touch({ queue });
    const withPush = touched.filter(({ hasPush }) => hasPush).map(({ key }) => key);
    if (withPush.length > 0) await this.#tables.deliveries.plan(session, now, withPush, changes);
    return outcomes;
  }

  #valuesOf(written: readonly TaskRow[], { facts, once, snapshots, totals }: CommitGroup): unknown[] {
    const kept = [...snapshots.values()];
    return [
      ...this.#tables.rows.valuesOf(written),
      ...[facts.map((one) => one.key), facts.map((one) => one.version)],
      ...[facts.map((one) => one.commitId), facts.map((one) => one.fact)],
      ...[once.map((one) => one.key), once.map((one) => one.onceKey), once.map((one) => one.version)],
      ...[[...snapshots.keys()], kept.map((one) => one.version), kept.map((one) => one.json)],
      ...this.#tables.totals.valuesOf(totals),
    ];
  }

  async #read(
    session: Session,
    rows: readonly TaskRow[],
    commits: readonly PreparedCommit[],
  ): Promise<Pick<Known, 'once' | 'waiting'>> {
    const once = new Map<string, number>();
    const waiting = new Map<string, number>();
    const known = new Set(rows.map(({ key }) => key));
    // A task that does not exist has used no keys.
    const keyed = commits.filter(({ key, onceKey }) => onceKey !== undefined && known.has(key));
    if (keyed.length > 0) {
      const values = [keyed.map(({ key }) => key), keyed.map(({ onceKey }) => onceKey)];
      for (const { key, once_key, version } of await session.query(this.#findOnce, values))
        once.set(onceName(String(key), String(once_key)), Number(version));
    }
    const bounded = new Map<string, string>();
    for (const { commit } of commits)
      if (commit.turn?.waitingAtMost !== undefined) bounded.set(keyOf(commit.turn.queue), commit.turn.queue);
    if (bounded.size > 0) {
      for (const { queue_key, tasks } of await session.query(this.#countWaiting, [[...bounded.keys()]]))
        waiting.set(bounded.get(String(queue_key))!, Number(tasks));
    }
    return { once, waiting };
  }
}

/** The statement that writes everything of a group, with the values that `#valuesOf` gives. */
function writing(schema: string, { rows, totals }: CommitTables): string {
  const first = rows.putting.count + 1;
  const at = (n: number) => `$${first + n}`;
  return `WITH written AS (${rows.putting.statement(1)}),
    facts AS (
      INSERT INTO ${schema}.facts (key, version, commit_id, fact)
      SELECT * FROM unnest(${at(0)}::text[], ${at(1)}::bigint[], ${at(2)}::text[], ${at(3)}::text[])
    ),
    once AS (
      INSERT INTO ${schema}.once_keys (key, once_key, version)
      SELECT * FROM unnest(${at(4)}::text[], ${at(5)}::text[], ${at(6)}::bigint[])
    ),
    snapshots AS (
      INSERT INTO ${schema}.snapshots (key, version, snapshot)
      SELECT * FROM unnest(${at(7)}::text[], ${at(8)}::bigint[], ${at(9)}::text[])
      ON CONFLICT (key) DO UPDATE SET version = excluded.version, snapshot = excluded.snapshot
    ),
    totals AS (${totals.statement(first + 10)})
    SELECT count(*) AS written FROM written`;
}
