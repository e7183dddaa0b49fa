import type { DatabaseSync } from 'node:sqlite';

/** `snapshots`: a probe writes there. */
const tables = ['tasks', 'webhooks', 'records', 'snapshots'];

/** See `Rows.freeze`. Triggers refuse the writes of every process. Called inside the caller's transaction. */
export function freeze(db: DatabaseSync, ms: number): void {
  const isNow = ms === Number.POSITIVE_INFINITY ? '' : `WHEN unixepoch('subsec') * 1000 < ${Date.now() + ms}`;
  for (const table of tables)
    for (const event of ['INSERT', 'UPDATE', 'DELETE']) {
      const name = `frozen_${table}_${event}`;
      db.exec(`DROP TRIGGER IF EXISTS ${name}`);
      if (ms > 0)
        db.exec(
          `CREATE TRIGGER ${name} BEFORE ${event} ON ${table} ${isNow} BEGIN SELECT RAISE(ABORT, 'frozen'); END`,
        );
    }
}
