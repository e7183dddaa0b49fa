import { type Rate, takenFrom } from '@batonjs/store';
import type { Database } from './sql/database.ts';

/** How many takes of this process there are between two sweeps. */
const sweepEvery = 1_000;

/** The buckets that all processes on a file share. Called inside the caller's transaction. */
export class Buckets {
  readonly #find;
  readonly #put;
  readonly #deleteFull;
  #takes = 0;

  constructor(db: Database) {
    this.#find = db.prepare('SELECT full_at FROM buckets WHERE name = ?');
    this.#put = db.prepare(
      'INSERT INTO buckets (name, full_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET full_at = excluded.full_at',
    );
    this.#deleteFull = db.prepare('DELETE FROM buckets WHERE full_at <= ?');
  }

  take(bucket: string, rate: Rate, now: number): number {
    const kept = this.#find.get(bucket)?.full_at as number | undefined;
    const { fullAt, waitMs } = takenFrom(kept, rate, now);
    if (fullAt !== kept) this.#put.run(bucket, fullAt);
    if (++this.#takes % sweepEvery === 0) this.#deleteFull.run(now);
    return waitMs;
  }
}
