import { createHash } from 'node:crypto';
import type { Moment } from '@batonjs/store/adapter';

/** A row as the driver returns it. */
export type DatabaseRow = Readonly<Record<string, unknown>>;

/** One connection, inside a transaction. */
export interface Session {
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
  /** The same for a statement that is run again and again: the database may keep its plan under this name. */
  queryPlanned(name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]>;
}

/** Receives messages of a channel. */
export interface Listener {
  readonly onMessage: (message: string) => void;
  /** Called once when the connection is lost, and not after `stop`. */
  readonly onLost: () => void;
}

/** The work inside a transaction. */
export type Work<T> = (
  session: Session,
  now: number,
  opened: readonly (readonly DatabaseRow[])[],
) => Promise<T>;

/** The rows of statements, and the database's clock after them, in milliseconds since 1970. */
export interface Looked {
  readonly now: number;
  readonly rows: readonly (readonly DatabaseRow[])[];
}

/** The members of a driver that the store uses. */
export interface Database {
  /** The name of the database in errors, without its password. */
  readonly name: string;
  /** How long a transaction waits for the lock of a row, in milliseconds. */
  readonly lockTimeoutMs: number;
  /** Runs one statement in a transaction of its own. */
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]>;
  /** The same for one that writes; see `Session.queryPlanned`. A rejection means the same as that of `transact`. */
  write(name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]>;
  /** Runs statements without values in one round trip. */
  look(statements: readonly string[]): Promise<Looked>;
  /**
   * Runs `work` in one transaction. `opening`: statements without values that are run first, in one round trip; `work`
   * gets the rows of each. `now`: the database's clock after them, in milliseconds since 1970. A rejection means
   * that nothing was written, unless it is an `OutcomeUnknown`.
   */
  transact<T>(work: Work<T>, opening?: readonly string[]): Promise<T>;
  /** Resolves once messages of the channel are received, to the function that stops it. */
  listen(channel: string, listener: Listener): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** The connection was lost while the transaction was committed, or while a statement of its own was. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** All clocks are that of the database. */
export const momentAt = (now: number): Moment => ({ now, orderNow: now, leaseNow: now });

/** The time of the database's clock in milliseconds since 1970. */
export const clock = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** A digest of ids, of 24 characters, for indexes: ids may be longer than an index takes. */
export function keyOf(...ids: readonly string[]): string {
  const hash = createHash('sha256');
  // Ids hold no NUL.
  hash.update(ids.join('\0'));
  return hash.digest('base64url').slice(0, 24);
}

/** What stands among the words of tasks of a scope, so that an index of words looks there only. No word has its `=`. */
export const markOf = (scope: string): string => `=${keyOf(scope)}`;

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
export const pgliteDatabase = (database: PGliteLike): Database => ({
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
});
