import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import type { Database } from './database.ts';
import { isForbidden, isMissing, translated } from './postgres-error.ts';
import { migrations } from './schema.ts';

/**
 * Brings a schema to its newest version, in one transaction: other processes see the old one or the new one. Needs
 * no privilege to create anything where nothing is to be done. Any number of processes may start at once: they wait
 * for each other. Rejects with code `UNUSABLE` for a schema of a newer release, and without the privileges.
 */
export async function migrate(
  database: Database,
  schema: string,
  quoted: string,
  steps: typeof migrations = migrations,
): Promise<void> {
  if ((await versionOf(database, schema, quoted, steps.length)) === steps.length) return;
  try {
    await database.transact(async (session) => {
      await session.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`baton ${schema}`]);
      const [found] = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      // `IF NOT EXISTS` needs the privilege to create even where the schema exists.
      if (!found) await session.query(`CREATE SCHEMA ${quoted}`);
      await session.query(
        `CREATE TABLE IF NOT EXISTS ${quoted}.meta (name text PRIMARY KEY, value text NOT NULL)`,
      );
      const [kept] = await session.query(`SELECT value FROM ${quoted}.meta WHERE name = 'version'`);
      const version = Number(kept?.value ?? 0);
      for (const step of steps.slice(version))
        for (const statement of step(quoted)) await session.query(statement);
      await session.query(
        `INSERT INTO ${quoted}.meta (name, value) VALUES ('version', $1), ('identity', $2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE meta.name = 'version'`,
        [String(steps.length), randomUUID()],
      );
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message = `${database.name} does not let this role create the schema ${quoted} or change its tables`;
    throw new StoreError('UNUSABLE', message, { cause: error });
  }
}

async function versionOf(
  database: Database,
  schema: string,
  quoted: string,
  known: number,
): Promise<number | undefined> {
  try {
    const [kept] = await database.query(`SELECT value FROM ${quoted}.meta WHERE name = 'version'`);
    const version = Number(kept?.value ?? 0);
    if (version <= known) return version;
    const message = `Its schema ${schema} has version ${version}, and this release knows ${known}`;
    throw new StoreError('UNUSABLE', `${database.name} was written by a newer release. ${message}`);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (isForbidden(error)) throw translated(database.name, error, 'UNUSABLE');
    throw error;
  }
}
