import { changedRow, type RecordRow, type Replaced, type Wanted } from '@batonjs/store/adapter';
import { recordOfSql } from '@batonjs/store/sql';
import { type Database, namesOf, recordColumns, valuesOf } from '../sql/database.ts';

/** Rows of the table `records`. Called inside the caller's transaction. */
export function recordsOf(db: Database) {
  const names = namesOf(recordColumns);
  const select = (condition: string) =>
    db.prepare(`SELECT ${names.join(', ')} FROM records WHERE ${condition} LIMIT ?`);
  const sql = {
    named: select('name = ?'),
    listed: select('name >= ? AND name < ? ORDER BY name'),
    ofScope: select('name >= ? AND name < ? AND scope = ? ORDER BY name'),
    expired: select('expires_at <= ? ORDER BY expires_at'),
    put: db.prepare(`REPLACE INTO records (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`),
    remove: db.prepare('DELETE FROM records WHERE name = ?'),
  };

  return {
    get(name: string): RecordRow | undefined {
      const found = sql.named.get(name, 1);
      return found && recordOfSql(found);
    },
    listed({ scope, from, until, limit }: NonNullable<Wanted['listed']>): RecordRow[] {
      const found =
        scope === undefined ? sql.listed.all(from, until, limit) : sql.ofScope.all(from, until, scope, limit);
      return found.map(recordOfSql);
    },
    expired: (now: number, limit: number): RecordRow[] => sql.expired.all(now, limit).map(recordOfSql),
    replace(change: Replaced<RecordRow>): void {
      if (change.after) sql.put.run(...valuesOf(recordColumns, change.after));
      else sql.remove.run(changedRow(change).name);
    },
  };
}
