import type { Database } from '../sql/database.ts';

/** How many writes of this process there are between two sweeps. */
const sweepEvery = 100;

/** How many buckets a sweep visits: more than writes can have added since the last one, so that it comes to all. */
const sweepAtMost = 200;

/** The buckets that all processes on a file share. Called inside the caller's transaction. */
export class Buckets {
  readonly #find;
  readonly #put;
  readonly #findEnd;
  readonly #deleteFull;
  readonly #deleteRest;
  #writes = 0;
  /** The name of the bucket at which the last sweep ended. */
  #sweptUntil = '';

  constructor(db: Database) {
    this.#find = db.prepare('SELECT full_at FROM buckets WHERE name = ?');
    this.#put = db.prepare(
      'INSERT INTO buckets (name, full_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET full_at = excluded.full_at',
    );
    this.#findEnd = db.prepare('SELECT name FROM buckets WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?');
    this.#deleteFull = db.prepare('DELETE FROM buckets WHERE name > ? AND name <= ? AND full_at <= ?');
    this.#deleteRest = db.prepare('DELETE FROM buckets WHERE name > ? AND full_at <= ?');
  }

  get(bucket: string): number | undefined {
    const kept = this.#find.get(bucket);
    return kept && Number(kept.full_at);
  }

  /** `now`: of the clock that `fullAt` is of. */
  set(bucket: string, fullAt: number, now: number): void {
    this.#put.run(bucket, fullAt);
    if (++this.#writes % sweepEvery === 0) this.#sweep(now);
  }

  /** Deletes the full ones of the next buckets by name: an index by time would cost every write a write more. */
  #sweep(now: number): void {
    const from = this.#sweptUntil;
    const last = this.#findEnd.get(from, sweepAtMost - 1);
    const end = last ? String(last.name) : '';
    if (last) this.#deleteFull.run(from, end, now);
    else this.#deleteRest.run(from, now);
    this.#sweptUntil = end;
  }
}
