import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from '@batonjs/store';
import { applicationId, migrations, mustBeKnown } from '../sql/schema.ts';

/**
 * Brings a file to the newest version of the schema, in one transaction: other processes see the old one or the new
 * one. Throws a `StoreError` of code `UNUSABLE` for a file of a newer release or of another program.
 */
export function migrate(db: DatabaseSync, path: string, steps: readonly string[] = migrations): void {
  // Writes even where there is nothing to migrate, so that a file that cannot be written is noticed now.
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = read(db, 'user_version');
    mustBeOurs(db, path, version, steps.length);
    for (const step of steps.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function mustBeOurs(db: DatabaseSync, path: string, version: number, known: number): void {
  const { objects } = db.prepare('SELECT count(*) AS objects FROM sqlite_schema').get() as {
    objects: number;
  };
  const empty = version === 0 && objects === 0;
  if (!empty && read(db, 'application_id') !== applicationId) {
    throw new StoreError('UNUSABLE', `${path} is a database of another program`);
  }
  mustBeKnown(path, version, known);
}

function read(db: DatabaseSync, pragma: 'user_version' | 'application_id'): number {
  return Number(Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
}
