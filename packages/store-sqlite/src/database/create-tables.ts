import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { otherLayout } from '@batonjs/store/adapter';
import { applicationId, layout, schema } from '../sql/schema.ts';
import { textSchema } from '../sql/text-schema.ts';

/**
 * Creates the tables in an empty file, in one transaction, and that of texts where it is missing and wanted. Throws a
 * `StoreError` of code `UNUSABLE` for a file of another release or of another program.
 */
export function createTables(db: DatabaseSync, path: string, textSearch = false): void {
  // Writes even where there is nothing to create, so that a file that cannot be written is noticed now.
  db.exec('BEGIN IMMEDIATE');
  try {
    if (isEmpty(db)) db.exec(schema);
    else mustBeOurs(db, path);
    if (textSearch) db.exec(textSchema);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${layout}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function isEmpty(db: DatabaseSync): boolean {
  const object = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  return read(db, 'user_version') === 0 && object === undefined;
}

function mustBeOurs(db: DatabaseSync, path: string): void {
  if (read(db, 'application_id') !== applicationId)
    throw new StoreError('UNUSABLE', `${path} is a database of another program`);
  const version = read(db, 'user_version');
  if (version !== layout) throw otherLayout(path, version, layout, 'a new file');
}

function read(db: DatabaseSync, pragma: 'user_version' | 'application_id'): number {
  return Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
}
