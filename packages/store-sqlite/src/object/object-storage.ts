import { StoreError } from '@batonjs/store';
import type { Database, SqlRow, SqlValue } from '../sql/database.ts';

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

/** The statements of a Durable Object's SQLite. It keeps prepared ones itself, by their text. */
export const objectDatabase = ({ sql }: ObjectStorage): Database => ({
  prepare: (text) => ({
    get: (...values) => sql.exec(text, ...values).toArray()[0],
    all: (...values) => sql.exec(text, ...values).toArray(),
    iterate: (...values) => sql.exec(text, ...values),
    run: (...values) => ({ changes: sql.exec(text, ...values).rowsWritten }),
  }),
});

/** Follows the noun in messages: 'The SQLite of this Durable Object …'. */
export const ofThisObject = 'of this Durable Object';

/** The error of a store whose data was deleted by `deleteAll`. */
export const dataDeleted = (): StoreError =>
  new StoreError('UNUSABLE', `The data ${ofThisObject} was deleted while it was in use`);

/**
 * The error for a failed call. SQLite's own errors become `UNAVAILABLE`, because a later attempt may succeed, or
 * `UNUSABLE` once the tables are gone.
 */
export function storeError(error: unknown): unknown {
  if (StoreError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes('no such table')) {
    const why = `The tables ${ofThisObject} were deleted while it was in use`;
    return new StoreError('UNUSABLE', why, { cause: error });
  }
  const isFull = message.includes('SQLITE_FULL');
  return new StoreError(
    'UNAVAILABLE',
    `The SQLite ${ofThisObject} ${isFull ? 'is full' : 'failed'}: ${message}`,
    { cause: error, trouble: isFull ? 'disk-full' : undefined },
  );
}
