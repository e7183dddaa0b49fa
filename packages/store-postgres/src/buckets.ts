import type { Rate } from '@batonjs/store';
import { keyOf } from './database/keys.ts';
import type { Transactions } from './database/transactions.ts';

/** How many takes of this process there are between two sweeps. */
const sweepEvery = 1_000;

/** The most full buckets that one sweep deletes. */
const sweepAtMost = 10_000;

const now = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

/** The buckets that all processes on a schema share. */
export class Buckets {
  readonly #transactions: Transactions;
  readonly #take: string;
  readonly #sweep: string;
  #takes = 0;
  #sweeping: Promise<unknown> | undefined;

  constructor(schema: string, transactions: Transactions) {
    this.#transactions = transactions;
    // As `takenFrom` of `@batonjs/store`. A bucket that is not there is full. `excluded.full_at` is the time here: one that
    // was read before the row was locked, and so too early if at all, which makes the bucket emptier and never fuller.
    this.#take = `
      INSERT INTO ${schema}.buckets AS b (key, full_at, wait_ms) SELECT $1, now + $3::float8, 0 FROM (SELECT ${now} AS now) AS c
      ON CONFLICT (key) DO UPDATE SET (full_at, wait_ms) = (
        SELECT CASE WHEN wait > least($3::float8 / 100, 1) THEN start ELSE start + $3::float8 END,
          CASE WHEN wait > least($3::float8 / 100, 1) THEN wait ELSE 0 END
        FROM (
          SELECT start, least(start + $3::float8 - whole - now, $3::float8) AS wait FROM (
            SELECT now, whole, least(greatest(b.full_at, now), now + whole) AS start FROM (
              SELECT excluded.full_at - $3::float8 AS now, $2::float8 * $3::float8 AS whole
            ) AS asked
          ) AS known
        ) AS found
      )
      RETURNING wait_ms`;
    this.#sweep = `DELETE FROM ${schema}.buckets WHERE key IN (
      SELECT key FROM ${schema}.buckets WHERE full_at <= ${now} LIMIT ${sweepAtMost} FOR UPDATE SKIP LOCKED)`;
  }

  async take(bucket: string, { burst, everyMs }: Rate): Promise<number> {
    const [row] = await this.#transactions.query(this.#take, [keyOf(bucket), burst, everyMs]);
    if (++this.#takes % sweepEvery === 0) this.#beginSweep();
    return Number(row!.wait_ms);
  }

  /** In the background, one at a time. If it fails, a later one deletes what it left. */
  #beginSweep(): void {
    this.#sweeping ??= this.#transactions
      .query(this.#sweep)
      .catch(() => {})
      .finally(() => {
        this.#sweeping = undefined;
      });
  }

  /** Resolves once no sweep runs any more. */
  async close(): Promise<void> {
    await this.#sweeping;
  }
}
