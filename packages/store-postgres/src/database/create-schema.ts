import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import { otherLayout } from '@batonjs/store/adapter';
import type { Database, Session } from './database.ts';
import { isForbidden, isMissing, translated } from './postgres-error.ts';
import { layout, tables, textTables } from './schema.ts';

export interface SchemaOptions {
  readonly schema: string;
  /** The name in quotes. */
  readonly quoted: string;
  /** Whether texts are to be searched from now on. */
  readonly textSearch: boolean;
}

/** What a schema has. */
export interface CreatedSchema {
  /** Whether the words of tasks are kept. */
  readonly texts: boolean;
}

/**
 * Creates the schema and its tables if they are missing, in one transaction. Needs no privilege to create anything where
 * nothing is to be done. Any number of processes may start at once: they wait for each other. Rejects with code `UNUSABLE`
 * for a schema of another version, and without the privileges.
 */
export async function createSchema(database: Database, options: SchemaOptions): Promise<CreatedSchema> {
  const { schema, quoted, textSearch } = options;
  const found = await createdSchema(database, options);
  if (found && (found.texts || !textSearch)) return found;
  try {
    await database.transact(async (session) => {
      await session.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`baton ${schema}`]);
      const [named] = await session.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
      // `IF NOT EXISTS` needs the privilege to create even where the schema exists.
      if (!named) await session.query(`CREATE SCHEMA ${quoted}`);
      const [created] = await session.query('SELECT to_regclass($1) AS meta, to_regclass($2) AS texts', [
        `${quoted}.meta`,
        `${quoted}.task_texts`,
      ]);
      if (!created?.meta) await createTables(session, quoted);
      if (textSearch && !created?.texts)
        for (const statement of textTables(quoted)) await session.query(statement);
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message = `${database.name} does not let this role create the schema ${quoted} or its tables`;
    throw new StoreError('UNUSABLE', message, { cause: error });
  }
  // Another process may have created it, of another release.
  return (await createdSchema(database, options)) ?? { texts: false };
}

async function createTables(session: Session, quoted: string): Promise<void> {
  await session.query(`CREATE TABLE ${quoted}.meta (name text PRIMARY KEY, value text NOT NULL)`);
  for (const statement of tables(quoted)) await session.query(statement);
  await session.query(`INSERT INTO ${quoted}.meta (name, value) VALUES ('version', $1), ('identity', $2)`, [
    String(layout),
    randomUUID(),
  ]);
}

/** Undefined if the schema is to be created. */
async function createdSchema(
  database: Database,
  { schema, quoted }: SchemaOptions,
): Promise<CreatedSchema | undefined> {
  try {
    const [kept] = await database.query(
      `SELECT value, to_regclass($1) IS NOT NULL AS texts FROM ${quoted}.meta WHERE name = 'version'`,
      [`${quoted}.task_texts`],
    );
    if (kept && Number(kept.value) === layout) return { texts: kept.texts === true };
    throw otherLayout(`The schema ${schema} of ${database.name}`, kept?.value, layout, 'a new schema');
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (isForbidden(error)) throw translated(database.name, error, 'UNUSABLE');
    throw error;
  }
}
