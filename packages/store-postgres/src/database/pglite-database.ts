import { clock, type Database, type DatabaseRow, type Session } from './database.ts';

interface Queries {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The members of a `PGlite` of `@electric-sql/pglite` that the store uses. */
export interface PGliteLike extends Queries {
  transaction<T>(work: (transaction: Queries) => Promise<T>): Promise<T>;
  listen(channel: string, onMessage: (message: string) => void): Promise<(() => Promise<void>) | unknown>;
}

/** PGlite drops a U+FEFF at the start of a value that it reads: such values are kept behind this character. */
const guard = '\u{fffe}';

function guarded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(guarded);
  return typeof value === 'string' && /^[\u{feff}\u{fffe}]/u.test(value) ? guard + value : value;
}

function unguarded(row: DatabaseRow): DatabaseRow {
  for (const [name, value] of Object.entries(row))
    if (typeof value === 'string' && value.startsWith(guard)) Reflect.set(row, name, value.slice(1));
  return row;
}

function sessionOf(queries: Queries): Session {
  const query: Session['query'] = async (text, values) => {
    const { rows } = await queries.query(text, values?.map(guarded));
    return (rows as DatabaseRow[]).map(unguarded);
  };
  return { query, queryPlanned: (_, text, values) => query(text, values) };
}

/** PostgreSQL inside this process: one connection, which PGlite gives to one transaction after the other. */
export function pgliteDatabase(database: PGliteLike): Database {
  return {
    name: 'PGlite',
    // One connection: no other transaction holds a lock.
    lockTimeoutMs: 0,
    query: sessionOf(database).query,
    write: sessionOf(database).queryPlanned,
    async look(statements) {
      const { query } = sessionOf(database);
      const rows: DatabaseRow[][] = [];
      for (const statement of statements) rows.push(await query(statement));
      const [row] = await query(`SELECT ${clock} AS now`);
      return { now: Number(row?.now), rows };
    },
    transact: (work, opening = []) =>
      database.transaction(async (transaction) => {
        const session = sessionOf(transaction);
        const opened: DatabaseRow[][] = [];
        for (const statement of opening) opened.push(await session.query(statement));
        const [row] = await session.query(`SELECT ${clock} AS now`);
        return work(session, Number(row?.now), opened);
      }),
    async listen(channel, { onMessage }) {
      const stop = await database.listen(channel, onMessage);
      return async () => {
        if (typeof stop === 'function') await stop();
      };
    },
    // The database belongs to the caller, who may have opened other stores on it.
    close: async () => {},
  };
}
