import type { Session } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Changes } from '../notifications/changes.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import { CommitGroup, type Known, type Outcome, onceName } from './commit-group.ts';
import type { PreparedCommit } from './prepared-commit.ts';
import type { TaskRows } from './task-row.ts';
import type { Totals } from './totals.ts';

/** The tables that a commit writes besides its own. */
export interface CommitTables {
  readonly rows: TaskRows;
  readonly totals: Totals;
  readonly deliveries: Deliveries;
}

/** Writes groups of commits. Called inside the caller's transaction. */
export class Commits {
  readonly #tables: CommitTables;
  readonly #lockNew: string;
  readonly #findOnce: string;
  readonly #countWaiting: string;
  readonly #insertOnce: string;
  readonly #insertFacts: string;
  readonly #putSnapshots: string;

  constructor(schema: string, tables: CommitTables) {
    this.#tables = tables;
    this.#lockNew = `SELECT pg_advisory_xact_lock(hashtext(name)) FROM (SELECT unnest($1::text[]) AS name) AS names`;
    this.#findOnce = `SELECT o.key, o.once_key, o.version FROM ${schema}.once_keys AS o
      JOIN unnest($1::text[], $2::text[]) AS u(key, once_key) ON o.key = u.key AND o.once_key = u.once_key`;
    this.#countWaiting = `SELECT queue, count(*) AS tasks FROM ${schema}.tasks
      WHERE queue_key = ANY($1::text[]) AND waiting_since IS NOT NULL GROUP BY queue`;
    this.#insertOnce = `INSERT INTO ${schema}.once_keys (key, once_key, version)
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])`;
    this.#insertFacts = `INSERT INTO ${schema}.facts (key, version, commit_id, fact)
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[])`;
    this.#putSnapshots = `INSERT INTO ${schema}.snapshots (key, version, snapshot)
      SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])
      ON CONFLICT (key) DO UPDATE SET version = excluded.version, snapshot = excluded.snapshot`;
  }

  /** Notes in `changes` what to notify of. Outcomes are in the order of the commits. */
  async write(
    session: Session,
    now: number,
    commits: readonly PreparedCommit[],
    changes: Changes,
  ): Promise<Outcome[]> {
    const known = await this.#read(session, now, commits);
    const group = new CommitGroup(known);
    const outcomes = commits.map((commit) => group.decide(commit));
    const { inserted, updated, touched, facts, once, snapshots } = group;
    if (inserted.length + updated.length === 0) return outcomes;

    const { rows, totals, deliveries } = this.#tables;
    // A webhook may be added to a task at the moment in which the task is created: both take this lock.
    if (inserted.length > 0) await session.query(this.#lockNew, [inserted.map(({ key }) => key)]);
    const withPush = await rows.insert(session, inserted);
    await rows.update(session, updated);
    if (facts.length > 0) {
      const columns = [facts.map((one) => one.key), facts.map((one) => one.version)];
      const texts = [facts.map((one) => one.commitId), facts.map((one) => one.fact)];
      await session.query(this.#insertFacts, [...columns, ...texts]);
    }
    if (once.length > 0) {
      const columns = [
        once.map((one) => one.key),
        once.map((one) => one.onceKey),
        once.map((one) => one.version),
      ];
      await session.query(this.#insertOnce, columns);
    }
    if (snapshots.size > 0) {
      const kept = [...snapshots.values()];
      const columns = [[...snapshots.keys()], kept.map((one) => one.version), kept.map((one) => one.json)];
      await session.query(this.#putSnapshots, columns);
    }
    for (const { scope, taskId, row } of touched) changes.touch({ scope, taskId }, row.version);
    for (const queue of group.queues) changes.touch({ queue });
    for (const { key, hasPush } of touched) if (hasPush) withPush.push(key);
    if (withPush.length > 0) await deliveries.plan(session, now, withPush, changes);
    await totals.write(session, group.totals);
    return outcomes;
  }

  async #read(session: Session, now: number, commits: readonly PreparedCommit[]): Promise<Known> {
    const rows = await this.#tables.rows.lock(session, [...new Set(commits.map(({ key }) => key))]);
    const once = new Map<string, number>();
    const waiting = new Map<string, number>();
    const keyed = commits.filter(({ onceKey }) => onceKey !== undefined);
    if (keyed.length > 0 && rows.length > 0) {
      const values = [keyed.map(({ key }) => key), keyed.map(({ onceKey }) => onceKey)];
      for (const { key, once_key, version } of await session.query(this.#findOnce, values))
        once.set(onceName(String(key), String(once_key)), Number(version));
    }
    const bounded = commits.flatMap(({ commit: { turn } }) =>
      turn?.waitingAtMost === undefined ? [] : [keyOf(turn.queue)],
    );
    if (bounded.length > 0) {
      for (const { queue, tasks } of await session.query(this.#countWaiting, [[...new Set(bounded)]]))
        waiting.set(String(queue), Number(tasks));
    }
    return { rows, once, waiting, now };
  }
}
