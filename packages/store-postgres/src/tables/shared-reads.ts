import { Group, type Grouped } from '@batonjs/store';
import type { DatabaseRow } from '../database/database.ts';
import type { Transactions } from '../database/transactions.ts';

interface Read {
  readonly key: string;
  readonly after: number;
  readonly limit: number;
}

/** The most reads of one statement: together they may find some thousands of facts. */
const mostReads = 32;

/** Reads of facts. Those that are asked for in one round of the event loop share a statement. */
export class SharedReads {
  readonly #transactions: Transactions;
  readonly #sql: string;
  readonly #group = new Group<Read, DatabaseRow[]>({
    most: mostReads,
    atOnce: Number.POSITIVE_INFINITY,
    run: (reads) => this.#query(reads),
  });

  constructor(schema: string, transactions: Transactions) {
    this.#transactions = transactions;
    // One statement, so that the length of a log is the one at which its facts were read.
    this.#sql = `SELECT w.n, t.version AS length, f.*
      FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS w(key, after, most, n)
      JOIN ${schema}.tasks AS t ON t.key = w.key LEFT JOIN LATERAL (
        SELECT version, commit_id, fact FROM ${schema}.facts WHERE key = w.key AND version > w.after
        ORDER BY version LIMIT w.most
      ) AS f ON true ORDER BY w.n, f.version`;
  }

  /** Up to `limit` facts after a position, each with the `length` of the log; one row without a fact if there are none. */
  read(key: string, after: number, limit: number): Promise<DatabaseRow[]> {
    return this.#group.run({ key, after, limit });
  }

  async #query(reads: readonly Grouped<Read, DatabaseRow[]>[]): Promise<undefined> {
    const wanted = [
      reads.map(({ item }) => item.key),
      reads.map(({ item }) => item.after),
      reads.map(({ item }) => item.limit),
    ];
    const found = reads.map((): DatabaseRow[] => []);
    for (const row of await this.#transactions.query(this.#sql, wanted)) found[Number(row.n) - 1]?.push(row);
    for (const [n, { resolve }] of reads.entries()) resolve(found[n] ?? []);
  }
}
