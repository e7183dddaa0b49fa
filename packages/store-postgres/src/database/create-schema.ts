import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import { stepsFrom } from '@batonjs/store/adapter';
import type { Database, Session } from './database.ts';
import { isForbidden, isMissing, translated } from './postgres-error.ts';
import { layouts, tables, textTables } from './schema.ts';

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
  /** Whether its data have an older layout. */
  readonly isOld: boolean;
}

/**
 * Creates the schema and its tables if they are missing, and brings older ones forward, in one transaction. Needs no privilege to create anything where
 * nothing is to be done. Any number of processes may start at once: they wait for each other. Rejects with code `UNUSABLE`
 * for a schema of another version, and without the privileges.
 */
export async function createSchema(database: Database, options: SchemaOptions): Promise<CreatedSchema> {
  const { schema, quoted, textSearch } = options;
  const found = await createdSchema(database, options);
  if (found && !found.isOld && (found.texts || !textSearch)) return found;
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
      else await bringForward(session, database, options);
      if (textSearch && !created?.texts)
        for (const statement of textTables(quoted)) await session.query(statement);
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const message = `${database.name} does not let this role create the schema ${quoted} or its tables`;
    throw new StoreError('UNUSABLE', message, { cause: error });
  }
  // Another process may have created it meanwhile, with a table of texts.
  return (await createdSchema(database, options)) ?? { texts: false, isOld: false };
}

async function createTables(session: Session, quoted: string): Promise<void> {
  await session.query(`CREATE TABLE ${quoted}.meta (name text PRIMARY KEY, value text NOT NULL)`);
  for (const statement of tables(quoted)) await session.query(statement);
  await session.query(`INSERT INTO ${quoted}.meta (name, value) VALUES ('version', $1), ('identity', $2)`, [
    String(layouts.current),
    randomUUID(),
  ]);
}

/** The steps that data of this layout need. Throws `UNUSABLE` for a layout that this release does not read. */
export const stepsOf = (layout: unknown, { name }: Database, schema: string): typeof layouts.steps =>
  stepsFrom(layout, layouts, { data: `The schema ${schema} of ${name}`, instead: 'a new schema' });

async function bringForward(
  session: Session,
  database: Database,
  { schema, quoted }: SchemaOptions,
): Promise<void> {
  const [kept] = await session.query(`SELECT value FROM ${quoted}.meta WHERE name = 'version'`);
  for (const step of stepsOf(kept?.value, database, schema)) {
    await step.run({ session, schema: quoted });
    await session.query(`UPDATE ${quoted}.meta SET value = $1 WHERE name = 'version'`, [String(step.to)]);
  }
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
    const isOld = stepsOf(kept?.value, database, schema).length > 0;
    return { texts: kept?.texts === true, isOld };
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (isForbidden(error)) throw translated(database.name, error, 'UNUSABLE');
    throw error;
  }
}
