/** A column of a table: its name, its type, and its value in a row that is written. */
export type Column<Row> = readonly [name: string, type: string, value: (row: Row) => unknown];

/** The names of columns, as a list. */
export const namesOf = (columns: readonly Column<never>[]): string =>
  columns.map(([name]) => name).join(', ');

/** One array per column, for `unnest`. */
export const valuesOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map(([, , value]) => rows.map(value));

/** Rows of one table that are written in one statement. */
export interface Upsert {
  /** How many values it has. */
  readonly count: number;
  /** The statement, with values from `$first` on. It returns the key of each that was written. */
  statement(first: number): string;
}

/**
 * Inserts new rows and replaces those that have the revision in `replaced`; leaves out all others. Finds each on the index
 * by its conflict: the plan of a join, once kept, would go on reading the whole table as it grows.
 */
export function upsert(
  table: string,
  key: string,
  columns: readonly Column<never>[],
  revision = 'revision',
): Upsert {
  const keys = key.split(', ');
  const set = columns.filter(([name]) => !keys.includes(name)).map(([name]) => `${name} = excluded.${name}`);
  return {
    count: columns.length,
    statement: (first) => `INSERT INTO ${table} AS t (${namesOf(columns)})
      SELECT * FROM unnest(${columns.map(([, type], n) => `$${first + n}::${type}[]`).join(', ')})
      ON CONFLICT (${key}) DO UPDATE SET ${set.join(', ')}
      WHERE t.${revision} = excluded.replaced RETURNING t.${keys[0]}`,
  };
}

/** `null` for undefined, as the driver wants it. */
export const orNull = <T>(value: T | undefined): T | null => value ?? null;

/** `undefined` for null. */
export const known = <T>(value: unknown): T | undefined => (value ?? undefined) as T | undefined;
