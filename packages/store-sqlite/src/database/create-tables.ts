import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { stepsFrom } from '@batonjs/store/adapter';
import { applicationId, layouts, schema } from '../sql/schema.ts';
import { textSchema } from '../sql/text-schema.ts';

/**
 * Creates the tables in an empty file, in one transaction, and that of texts where it is missing and wanted. Brings tables
 * of an older layout forward. Throws a `StoreError` of code `UNUSABLE` for a file of another release or of another program.
 */
export function createTables(db: DatabaseSync, path: string, textSearch = false): void {
  // Writes even where there is nothing to create, so that a file that cannot be written is noticed now.
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = isEmpty(db) ? create(db) : broughtForward(db, path);
    if (textSearch) db.exec(textSchema);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function isEmpty(db: DatabaseSync): boolean {
  const object = db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  return read(db, 'user_version') === 0 && object === undefined;
}

function create(db: DatabaseSync): number {
  db.exec(schema);
  return layouts.current;
}

/** Returns the layout that the file has then: that of a newer release stays. */
function broughtForward(db: DatabaseSync, path: string): number {
  if (read(db, 'application_id') !== applicationId)
    throw new StoreError('UNUSABLE', `${path} is a database of another program`);
  const version = read(db, 'user_version');
  const steps = stepsOf(version, path);
  for (const step of steps) step.run(db);
  return steps.at(-1)?.to ?? version;
}

/** Throws a `StoreError` of code `UNUSABLE` if a newer release brought the file to a layout that this one does not read. */
export function mustReadLayout(db: DatabaseSync, path: string): void {
  stepsOf(read(db, 'user_version'), path);
}

const stepsOf = (layout: number, path: string) =>
  stepsFrom(layout, layouts, { data: path, instead: 'a new file' });

function read(db: DatabaseSync, pragma: 'user_version' | 'application_id'): number {
  return Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
}
