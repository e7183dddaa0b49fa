import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import type { Database } from './database.ts';
import { isForbidden, isMissing, translated } from './postgres-error.ts';
import { schemaVersion, tables } from './schema.ts';

/**
 * Creates the schema and its tables if they are missing, in one transaction. Needs no privilege to create anything where
 * nothing is to be done. Any number of processes may start at once: they wait for each other. Rejects with code `UNUSABLE`
 * for a schema of another version, and without the privileges.
 */
export async function createSchema(database: Database, schema: string, quoted: string): Promise<void> {
  if (await isCreated(database, schema, quoted)) return;
  try {
    await database.transact(async (session) => {
      await session.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`baton ${schema}`]);
      const [found] = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      // `IF NOT EXISTS` needs the privilege to create even where the schema exists.
      if (!found) await session.query(`CREATE SCHEMA ${quoted}`);
      const [created] = await session.query('SELECT to_regclass($1) AS meta', [`${quoted}.meta`]);
      if (created?.meta) return;
      await session.query(`CREATE TABLE ${quoted}.meta (name text PRIMARY KEY, value text NOT NULL)`);
      for (const statement of tables(quoted)) await session.query(statement);
      await session.query(
        `INSERT INTO ${quoted}.meta (name, value) VALUES ('version', $1), ('identity', $2)`,
        [schemaVersion, randomUUID()],
      );
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message = `${database.name} does not let this role create the schema ${quoted} or its tables`;
    throw new StoreError('UNUSABLE', message, { cause: error });
  }
  // Another process may have created it, of another release.
  await isCreated(database, schema, quoted);
}

async function isCreated(database: Database, schema: string, quoted: string): Promise<boolean> {
  try {
    const [kept] = await database.query(`SELECT value FROM ${quoted}.meta WHERE name = 'version'`);
    if (kept?.value === schemaVersion) return true;
    const message = `The tables in schema ${schema} of ${database.name} have version ${String(kept?.value)}, and this release reads ${schemaVersion}`;
    throw new StoreError('UNUSABLE', `${message}. Use a new schema, or the release that wrote them`);
  } catch (error) {
    if (isMissing(error)) return false;
    if (isForbidden(error)) throw translated(database.name, error, 'UNUSABLE');
    throw error;
  }
}
