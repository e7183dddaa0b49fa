import type { Scope, StoredFact } from '@batonjs/store';
import { Group, type Grouped, type KeptFacts, type KeptLog, parseFact } from '@batonjs/store/adapter';
import { taskOfSql } from '@batonjs/store/sql';
import { readTaskColumns } from '../database/columns.ts';
import { type DatabaseRow, keyOf } from '../database/database.ts';
import type { Transactions } from '../database/postgres-error.ts';

/** The most facts of one statement: a long log is read in parts, so that it does not block the event loop. */
const atOnce = 1_000;

/** The most reads of one statement: together they may find some thousands of facts. */
const mostReads = 32;

/** Up to `most` facts after a position. */
interface Read {
  readonly key: string;
  readonly after: number;
  readonly most: number;
}

/** Reads logs. Reads of facts that are asked for in one round of the event loop share a statement. */
export function logsOf(schema: string, transactions: Transactions) {
  const reads = new Group<Read, DatabaseRow[]>({
    most: mostReads,
    atOnce: Number.POSITIVE_INFINITY,
    run: (reads) => query(reads),
  });
  const columns = readTaskColumns.replaceAll(/\w+/g, 't.$&');
  const logStatement = `SELECT ${columns}, s.version AS snapshot_version, s.snapshot
      FROM ${schema}.tasks AS t LEFT JOIN ${schema}.snapshots AS s ON s.key = t.key WHERE t.key = $1`;
  const rowStatement = `SELECT 1 FROM ${schema}.tasks WHERE key = $1`;
  // One statement, so that the length of a log is the one at which its facts were read.
  const factsStatement = `SELECT w.n, t.version AS length, f.*
      FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS w(key, after, most, n)
      JOIN ${schema}.tasks AS t ON t.key = w.key LEFT JOIN LATERAL (
        SELECT version, commit_id, fact FROM ${schema}.facts WHERE key = w.key AND version > w.after
        ORDER BY version LIMIT w.most
      ) AS f ON true ORDER BY w.n, f.version`;

  async function read(key: string, after: number, limit: number): Promise<KeptFacts> {
    const facts: StoredFact[] = [];
    for (let version = 0; ; ) {
      const most = Math.min(atOnce, limit - facts.length);
      if (most <= 0) return { version, facts };
      const last = facts.at(-1)?.version ?? after;
      const rows = await reads.run({ key, after: last, most });
      version = Number(rows[0]?.length ?? 0);
      const found = rows.filter(({ fact }: DatabaseRow) => fact !== null);
      for (const row of found) facts.push(toStoredFact(row));
      if (found.length < most) return { version, facts };
    }
  }

  /** Finds for each the facts, with the `length` of the log, or one row without a fact. */
  async function query(reads: readonly Grouped<Read, DatabaseRow[]>[]): Promise<undefined> {
    const values = (['key', 'after', 'most'] as const).map((name) => reads.map(({ item }) => item[name]));
    const found = reads.map((): DatabaseRow[] => []);
    for (const row of await transactions.query(factsStatement, values)) found[Number(row.n) - 1]?.push(row);
    for (const [n, { resolve }] of reads.entries()) resolve(found[n] ?? []);
  }

  return {
    async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
      const key = keyOf(scope, taskId);
      const [found] = await transactions.query(logStatement, [key]);
      if (!found) return undefined;
      const row = taskOfSql(found);
      const snapshot = found.snapshot === null ? undefined : JSON.parse(String(found.snapshot));
      const start = Number(found.snapshot_version ?? 0);
      // Facts never change: all up to this version existed when the row was read.
      const { facts } = await read(key, start, row.version - start);
      const isWhole = facts.length === row.version - start;
      // The log may have been deleted meanwhile.
      if (!isWhole && (await transactions.query(rowStatement, [key])).length === 0) return undefined;
      return { row, snapshot, facts };
    },
    facts: (scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> =>
      read(keyOf(scope, taskId), after, limit),
  };
}

export const toStoredFact = ({ version, commit_id, fact }: DatabaseRow): StoredFact => ({
  version: Number(version),
  commitId: String(commit_id),
  fact: parseFact(String(fact), Number(version)),
});
