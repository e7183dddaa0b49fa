import type { SqlRow, SqlValue } from '../sql/database.ts';

/** The result of a statement. */
export interface SqlCursor {
  toArray(): SqlRow[];
  [Symbol.iterator](): Iterator<SqlRow>;
  /** The rows of tables and indexes that the statement wrote. */
  readonly rowsWritten: number;
}

/** The part of `ctx.storage` of a Durable Object that the store uses. The object has SQLite (`new_sqlite_classes`). */
export interface ObjectStorage {
  readonly sql: { exec(sql: string, ...values: SqlValue[]): SqlCursor };
  transactionSync<T>(work: () => T): T;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
  /** Resolves when all that was written is on disk. */
  sync(): Promise<void>;
}
