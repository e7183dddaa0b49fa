import { StoreError } from '@batonjs/store';
import pg from 'pg';
import {
  clock,
  type Database,
  type DatabaseRow,
  type Listener,
  OutcomeUnknown,
  type Session,
} from './database.ts';
import { codeOf, isReadOnly, Raced, translated } from './postgres-error.ts';

export interface PoolDatabaseOptions {
  readonly name: string;
  /** How long a statement may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether `close` ends the pool. */
  readonly owned: boolean;
  /** Whether a statement that was prepared on a connection may be run there later: not behind PgBouncer. */
  readonly keepsPlans: boolean;
}

/** Whether the database answered with an error, and its connection goes on: not one of the classes 08, 57 and XX. */
const isAnswer = (error: unknown): boolean => {
  const code = codeOf(error);
  return typeof code === 'string' && /^(?!08|57|XX)[0-9A-Z]{5}$/.test(code) && code !== '25P03';
};

/**
 * Whether a connection is as good as before. One to a server that is read-only is not: after a failover, a new
 * connection may lead to another server.
 */
const isReusableAfter = (error: unknown): boolean =>
  error instanceof FromWork || (isAnswer(error) && !isReadOnly(error));

/** A pool of connections of `pg`. A connection that is lost ends no process, also after `close`. */
export function poolDatabase(
  pool: pg.Pool,
  { name, timeoutMs, owned, keepsPlans }: PoolDatabaseOptions,
): Database {
  // A process that stops in the middle of a transaction loses it, and the others wait for longer than that.
  const lockTimeoutMs = Math.ceil(timeoutMs * 0.8);
  const begin = `BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(timeoutMs * 0.4)};
    SET LOCAL lock_timeout = ${lockTimeoutMs}`;
  const readClock = `SELECT ${clock} AS now`;
  const statement = (text: string, values?: readonly unknown[]) =>
    ({ text, values, query_timeout: timeoutMs }) as pg.QueryConfig;
  const planned = (name: string, text: string, values: readonly unknown[]) => ({
    ...statement(text, values),
    ...(keepsPlans && { name }),
  });
  // With an answer of the database, nothing is written. Without one, it may have been.
  const unlessAnswered = (error: unknown): never => {
    if (isAnswer(error)) throw error;
    throw new OutcomeUnknown(String(error), { cause: error });
  };

  /** How many connections were opened so far, and how many when the database last said that it is read-only. */
  let opened = 0;
  let openedBefore = 0;
  const places = new WeakMap<pg.PoolClient, number>();
  const number = (client: pg.PoolClient) => void places.set(client, ++opened);
  pool.on('connect', number);
  outliveLostConnections(pool);

  /** After a failover, connections from before may all lead to the server that is read-only now. */
  async function connectAnew(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await connect(pool, name, timeoutMs);
      if (openedBefore === 0 || (places.get(client) ?? 0) > openedBefore) return client;
      client.release(true);
    }
  }

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await connectAnew();
    let broken = true;
    try {
      const result = await work(client);
      broken = false;
      return result;
    } catch (error) {
      if (isReadOnly(error)) openedBefore = opened;
      broken = !isReusableAfter(error) || !(await rolledBack(client));
      throw error instanceof FromWork ? error.cause : error;
    } finally {
      client.release(broken);
    }
  }

  const rolledBack = (client: pg.PoolClient) =>
    client.query(statement('ROLLBACK')).then(
      () => true,
      () => false,
    );

  return {
    name,
    lockTimeoutMs,

    query: (text, values) =>
      withClient(async (client) => rowsOf(await client.query(statement(text, values)))),

    write: (...asked) =>
      withClient(async (client) => rowsOf(await client.query(planned(...asked)).catch(unlessAnswered))),

    look: (statements) =>
      withClient(async (client) => {
        const text = [readClock, ...statements, readClock].join(';\n');
        const [, ...results] = await resultsOf(client.query(statement(text)));
        const now = Number(results.pop()?.rows[0].now);
        return { now, rows: results.map(rowsOf) };
      }),

    transact: (work, opening = []) =>
      withClient(async (client) => {
        const first = [begin, ...opening, readClock].join(';\n');
        const begun = await resultsOf(client.query(statement(first)));
        const opened = begun.slice(-1 - opening.length, -1).map(rowsOf);
        const now = Number(begun.at(-1)?.rows[0].now);
        const session: Session = {
          query: async (text, values) => (await client.query(statement(text, values))).rows,
          queryPlanned: async (...asked) => (await client.query(planned(...asked))).rows,
        };
        const result = await work(session, now, opened).catch((error: unknown) => {
          throw error instanceof Raced || StoreError.is(error) ? new FromWork(error) : error;
        });
        await client.query(statement('COMMIT')).catch(unlessAnswered);
        return result;
      }),

    async listen(channel, { onMessage, onLost }: Listener) {
      // Pools hide the password: it is not copied with the rest.
      const { options } = pool;
      const client = new pg.Client({
        ...options,
        password: options.password,
        connectionTimeoutMillis: timeoutMs,
      });
      let stopped = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const lost = () => {
        if (stopped) return;
        stopped = true;
        clearTimeout(timer);
        void client.end().catch(() => {});
        onLost();
      };
      client.on('error', lost);
      client.on('end', lost);
      client.on('notification', ({ payload }) => onMessage(payload ?? ''));
      // A connection that was cut silently is silent like one without messages.
      const checkLater = () => {
        if (stopped) return;
        const check = () => void client.query(statement('SELECT 1')).then(checkLater, lost);
        timer = setTimeout(check, timeoutMs / 2).unref();
      };
      try {
        await client.connect();
        await client.query(statement(`LISTEN ${channel}`));
        checkLater();
      } catch (error) {
        stopped = true;
        void client.end().catch(() => {});
        throw translated(name, error);
      }
      return async () => {
        stopped = true;
        clearTimeout(timer);
        // `end` alone may wait until the operating system gives up a server that cannot be reached. After a statement
        // without an answer, it does not wait.
        await client.query(statement('UNLISTEN *')).catch(() => {});
        await client.end().catch(() => {});
      };
    },

    close: async () => {
      if (owned) await pool.end();
      else pool.off('connect', number);
    },
  };
}

/** An error that `work` threw without the database. */
class FromWork extends Error {
  constructor(cause: unknown) {
    super('', { cause });
  }
}

/** A connection of the pool. Rejects if none is free in time, also where the pool itself would wait forever. */
async function connect(pool: pg.Pool, name: string, timeoutMs: number): Promise<pg.PoolClient> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connecting = pool.connect();
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('timeout exceeded when trying to connect')), timeoutMs);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    // A connection that comes too late goes back to the pool.
    connecting.then(
      (client) => client.release(),
      () => {},
    );
    throw translated(name, error);
  } finally {
    clearTimeout(timer);
  }
}

const rowsOf = ({ rows }: pg.QueryResult): DatabaseRow[] => rows;

/** The results of several statements in one query, of which the driver's types know the first alone. */
const resultsOf = async (answer: Promise<unknown>): Promise<pg.QueryResult[]> =>
  (await answer) as pg.QueryResult[];

/** An `error` event without a listener would end the process. The statement under way, or the next one, rejects. */
const ignore = (): void => {};

const guarded = new WeakSet<object>();

/**
 * From now on, no connection of the pool that is lost ends the process: one that is idle, in use, or just opened.
 * Does nothing for a pool that was given before.
 */
export function outliveLostConnections(pool: pg.Pool): void {
  if (guarded.has(pool)) return;
  guarded.add(pool);
  pool.on('error', ignore);
  // The pool takes its own listener off after `acquire`, and several rounds before `connect()` resolves.
  pool.on('acquire', (client) => {
    if (guarded.has(client)) return;
    guarded.add(client);
    client.on('error', ignore);
  });
}
