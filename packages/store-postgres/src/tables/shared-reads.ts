import type { DatabaseRow } from '../database/database.ts';
import type { Transactions } from '../database/transactions.ts';

interface Waiting {
  readonly key: string;
  readonly after: number;
  readonly limit: number;
  readonly resolve: (rows: DatabaseRow[]) => void;
  readonly reject: (error: unknown) => void;
}

/** The most reads of one statement: together they may find some thousands of facts. */
const mostReads = 32;

/** Reads of facts. Those that are asked for in one round of the event loop share a statement. */
export class SharedReads {
  readonly #transactions: Transactions;
  readonly #sql: string;
  #waiting: Waiting[] = [];

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
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, after, limit, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < all.length; start += mostReads)
      void this.#query(all.slice(start, start + mostReads));
  }

  async #query(reads: readonly Waiting[]): Promise<void> {
    const wanted = [
      reads.map(({ key }) => key),
      reads.map(({ after }) => after),
      reads.map(({ limit }) => limit),
    ];
    try {
      const found = reads.map((): DatabaseRow[] => []);
      for (const row of await this.#transactions.query(this.#sql, wanted))
        found[Number(row.n) - 1]?.push(row);
      for (const [n, { resolve }] of reads.entries()) resolve(found[n] ?? []);
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }
}
