import { StoreError } from '@batonjs/store';
import { migrations, mustBeKnown } from '@batonjs/store-sqlite/tables';
import { ofThisObject } from './object-error.ts';
import type { ObjectStorage } from './object-storage.ts';

/** As SQLite keeps it: a table of that name with another definition is not ours. */
const ownTable = 'CREATE TABLE baton (version INTEGER NOT NULL, identity TEXT NOT NULL) STRICT';

/**
 * Brings the tables to the newest version of the schema, all or not at all. Returns the identity of the data. Throws a
 * `StoreError` of code `UNUSABLE` for tables of a newer release, and for tables of the same name that are not ours.
 */
export function migrate(storage: ObjectStorage, steps: readonly string[] = migrations): string {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const { version, identity } = storedSchema(storage) ?? { version: 0, identity: crypto.randomUUID() };
    mustBeKnown(`The SQLite ${ofThisObject}`, version, steps.length);
    if (version === steps.length) return identity;
    if (version === 0) {
      mustBeFree(storage, steps);
      sql.exec(ownTable);
      sql.exec('INSERT INTO baton (version, identity) VALUES (0, ?)', identity);
    }
    for (const step of steps.slice(version)) sql.exec(step);
    sql.exec('UPDATE baton SET version = ?', steps.length);
    return identity;
  });
}

/** The version of the schema and the identity of the data; undefined if there are no tables. */
export function storedSchema({ sql }: ObjectStorage): { version: number; identity: string } | undefined {
  const [table] = sql.exec("SELECT sql FROM sqlite_schema WHERE name = 'baton'").toArray();
  if (table?.sql !== ownTable) return undefined;
  const [row] = sql.exec('SELECT version, identity FROM baton').toArray();
  return row as { version: number; identity: string } | undefined;
}

/** The object may have tables of its own, by other names. */
function mustBeFree({ sql }: ObjectStorage, steps: readonly string[]): void {
  const names = [ownTable, ...steps].flatMap((step) =>
    Array.from(step.matchAll(/CREATE (?:TABLE|INDEX|TRIGGER) (\w+)/g), ([, name]) => name),
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
