import {
  type KeptFacts,
  type KeptLog,
  parseFact,
  type Scope,
  type StoredFact,
  taskOfSql,
} from '@batonjs/store';
import { readTaskColumns } from '../database/columns.ts';
import type { DatabaseRow } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';
import { SharedReads } from './shared-reads.ts';

/** The most facts of one statement: a long log is read in parts, so that it does not block the event loop. */
const atOnce = 1_000;

/** Reads logs. */
export class Logs {
  readonly #transactions: Transactions;
  readonly #log: string;
  readonly #row: string;
  readonly #reads: SharedReads;

  constructor(schema: string, transactions: Transactions) {
    this.#transactions = transactions;
    const columns = readTaskColumns.replaceAll(/\w+/g, 't.$&');
    this.#log = `SELECT ${columns}, s.version AS snapshot_version, s.snapshot
      FROM ${schema}.tasks AS t LEFT JOIN ${schema}.snapshots AS s ON s.key = t.key WHERE t.key = $1`;
    this.#row = `SELECT 1 FROM ${schema}.tasks WHERE key = $1`;
    this.#reads = new SharedReads(schema, transactions);
  }

  async log(scope: Scope, taskId: string): Promise<KeptLog | undefined> {
    const key = keyOf(scope, taskId);
    const [found] = await this.#transactions.query(this.#log, [key]);
    if (!found) return undefined;
    const row = taskOfSql(found);
    const snapshot = found.snapshot === null ? undefined : JSON.parse(String(found.snapshot));
    const start = Number(found.snapshot_version ?? 0);
    // Facts never change: all up to this version existed when the row was read.
    const { facts } = await this.#read(key, start, row.version - start);
    const isWhole = facts.length === row.version - start;
    // The log may have been deleted meanwhile.
    if (!isWhole && (await this.#transactions.query(this.#row, [key])).length === 0) return undefined;
    return { row, snapshot, facts };
  }

  facts(scope: Scope, taskId: string, after: number, limit: number): Promise<KeptFacts> {
    return this.#read(keyOf(scope, taskId), after, limit);
  }

  async #read(key: string, after: number, limit: number): Promise<KeptFacts> {
    const facts: StoredFact[] = [];
    for (let version = 0; ; ) {
      const most = Math.min(atOnce, limit - facts.length);
      if (most <= 0) return { version, facts };
      const last = facts.at(-1)?.version ?? after;
      const rows = await this.#reads.read(key, last, most);
      version = Number(rows[0]?.length ?? 0);
      const found = rows.filter(({ fact }: DatabaseRow) => fact !== null);
      for (const row of found) facts.push(toStoredFact(row));
      if (found.length < most) return { version, facts };
    }
  }
}

/** A fact as it is read. */
export const toStoredFact = ({ version, commit_id, fact }: DatabaseRow): StoredFact => ({
  version: Number(version),
  commitId: String(commit_id),
  fact: parseFact(String(fact), Number(version)),
});
