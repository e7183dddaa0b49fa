/** A value that is bound to a statement. */
export type SqlValue = string | number | null;

/** A row of a result, by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement with parameters `?` or `?1`, which are bound in their order. Runs at once. */
export interface Statement {
  /** The first row, or undefined. The statement returns one row at most. */
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  /** The rows one after the other, so that not all of them are in memory. The reader may stop early. */
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
  /** `changes`: 0 if the statement changed nothing. */
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

/** A SQLite database, 3.38 or newer. That of `node:sqlite` is one. */
export interface Database {
  prepare(sql: string): Statement;
}
