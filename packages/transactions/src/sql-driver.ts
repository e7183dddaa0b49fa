/** The databases whose SQL is spoken. */
export type Dialect = 'postgres' | 'sqlite';

/** A value of a statement. */
export type SqlValue = string | number | null;

/** A driver of a database, as {@link sqlDatabase} needs it. `Tx` is what the driver calls a transaction. */
export interface SqlDriver<Tx> {
  readonly dialect: Dialect;
  /**
   * Begins a transaction, runs `run` in it, and commits. Rolls back where `run` rejects, and rejects with its error. A
   * transaction has a connection to itself: transactions of one connection follow each other.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs one statement, and resolves to its rows: objects with the columns by name, whose integers may be `number`,
   * `bigint` or `string`. Values stand as `$1`, `$2` … in PostgreSQL, and as `?` in SQLite.
   */
  query(tx: Tx, statement: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
}
