import type { Database } from '../sql/database.ts';
import type { ObjectStorage } from './object-storage.ts';

/** The statements of a Durable Object's SQLite. It keeps prepared ones itself, by their text. */
export const objectDatabase = ({ sql }: ObjectStorage): Database => ({
  prepare: (text) => ({
    get: (...values) => sql.exec(text, ...values).toArray()[0],
    all: (...values) => sql.exec(text, ...values).toArray(),
    iterate: (...values) => sql.exec(text, ...values),
    run: (...values) => ({ changes: sql.exec(text, ...values).rowsWritten }),
  }),
});
