import { StoreError } from '@batonjs/store';
import { stepsFrom } from '@batonjs/store/adapter';
import { layouts, schema } from '../sql/schema.ts';
import { objectDatabase } from './object-database.ts';
import { ofThisObject } from './object-error.ts';
import type { ObjectStorage } from './object-storage.ts';

/** As SQLite keeps it: a table of that name with another definition is not ours. */
const ownTable = 'CREATE TABLE baton (version INTEGER NOT NULL, identity TEXT NOT NULL) STRICT';

/**
 * Creates the tables if there are none, and brings older ones forward, all or not at all. Returns the identity of the data. Throws a `StoreError` of code
 * `UNUSABLE` for tables of another release, and for tables of the same name that are not ours.
 */
export function createTables(storage: ObjectStorage): string {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const stored = storedSchema(storage);
    if (stored) {
      const names = { data: `The SQLite ${ofThisObject}`, instead: 'another object' };
      for (const step of stepsFrom(stored.version, layouts, names)) {
        step.run(objectDatabase(storage));
        sql.exec('UPDATE baton SET version = ?', step.to);
      }
      return stored.identity;
    }
    mustBeFree(storage);
    const identity = crypto.randomUUID();
    sql.exec(ownTable);
    sql.exec(schema);
    sql.exec('INSERT INTO baton (version, identity) VALUES (?, ?)', layouts.current, identity);
    return identity;
  });
}

/** The version of the schema and the identity of the data; undefined if there are no tables. */
export function storedSchema({ sql }: ObjectStorage): { version: number; identity: string } | undefined {
  const [table] = sql.exec("SELECT sql FROM sqlite_schema WHERE name = 'baton'").toArray();
  if (table?.sql !== ownTable) return undefined;
  const [row] = sql.exec('SELECT version, identity FROM baton').toArray();
  return row && { version: Number(row.version), identity: String(row.identity) };
}

/** The object may have tables of its own, by other names. */
function mustBeFree({ sql }: ObjectStorage): void {
  const names = Array.from(
    `${ownTable}; ${schema}`.matchAll(/CREATE (?:TABLE|INDEX) (\w+)/g),
    ([, name]) => name,
  );
  const taken = sql
    .exec(
      'SELECT name FROM sqlite_schema WHERE lower(name) IN (SELECT value FROM json_each(?))',
      JSON.stringify(names),
    )
    .toArray();
  if (taken.length === 0) return;
  const own = taken.map(({ name }) => name).join(', ');
  throw new StoreError(
    'UNUSABLE',
    `The SQLite ${ofThisObject} has other tables or indexes of these names: ${own}. Use another class for the agent`,
  );
}
