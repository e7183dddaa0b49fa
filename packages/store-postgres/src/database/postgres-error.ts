import { StoreError } from '@batonjs/store';
import { DatabaseClock } from '@batonjs/store/adapter';
import { type Database, type DatabaseRow, type Looked, OutcomeUnknown, type Work } from './database.ts';

/** Thrown where another process wrote the same rows first: the transaction is run again. */
export class Raced extends Error {
  override readonly name = 'Raced';
}

/** The state with which a frozen schema refuses a write: one of no class of PostgreSQL. */
export const frozen = 'BT001';

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const troubles: Readonly<Record<string, StoreError['trouble']>> = {
  '25006': 'read-only',
  '53100': 'disk-full',
  '53200': 'out-of-memory',
  '55P03': 'locked',
  [frozen]: 'read-only',
};

const explanations: Readonly<Record<string, string>> = {
  '25006': 'takes no writes: it is read-only, as a replica is',
  '3D000': 'does not exist',
  '53100': 'cannot grow: the disk is full',
  '53200': 'is out of memory',
  '53300': 'takes no more connections',
  [frozen]: 'takes no writes: its schema is being copied to another store, or was',
  '55P03': 'keeps a row locked for too long: another process is inside a transaction',
};

/** Whether the transaction was rolled back only because of others, so that it may succeed when it is run again. */
function isTransient(error: unknown): boolean {
  const state = stateOf(error);
  return error instanceof Raced || state === '40001' || state === '40P01';
}

/** Whether the error is about the values of one statement, and another write of the same group may succeed. */
export const isAboutValues = (error: unknown): boolean => /^(22|23|54)/.test(stateOf(error) ?? '');

/** Whether the error says that the schema or one of its tables does not exist. */
export const isMissing = (error: unknown): boolean => ['3F000', '42P01'].includes(stateOf(error) ?? '');

/** Whether the server takes no writes, as a replica. */
export const isReadOnly = (error: unknown): boolean => stateOf(error) === '25006';

/** Whether the role lacks a privilege. */
export const isForbidden = (error: unknown): boolean => stateOf(error) === '42501';

/** The error that a call rejects with. A `StoreError` stays as it is. */
export function translated(
  name: string,
  error: unknown,
  code: StoreError['code'] = 'UNAVAILABLE',
): StoreError {
  if (StoreError.is(error)) return error;
  const state = stateOf(error) ?? '';
  const message = error instanceof Error ? error.message : String(error);
  const why =
    error instanceof OutcomeUnknown
      ? 'was lost while it committed: whether it did is unknown'
      : /timeout exceeded when trying to connect/.test(message)
        ? 'has no free connection: all of the pool are in use, or it does not answer'
        : (explanations[state] ?? `failed: ${message || codeOf(error)}`);
  return new StoreError(code, `${name} ${why}`, { cause: error, trouble: troubles[state] });
}

/** The code of a driver's error. */
export const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;

function stateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** How often a transaction is run again that others made fail. */
const mostAttempts = 12;

export type Transactions = ReturnType<typeof transactionsOf>;

/**
 * Runs statements and transactions, again where others made them fail, and translates their errors. `ready`: resolves once
 * the tables are there; called before everything.
 */
export function transactionsOf(database: Database, ready: () => Promise<void>) {
  /** As its answers tell it. */
  const clock = new DatabaseClock();

  async function again<T>(attempt: () => Promise<T>): Promise<T> {
    await ready();
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!isTransient(error) || attempts === mostAttempts) throw translated(database.name, error);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 2 ** attempts)));
    }
  }

  return {
    /** One statement in a transaction of its own. */
    query: (text: string, values?: readonly unknown[]): Promise<DatabaseRow[]> =>
      again(() => database.query(text, values)),
    /** The rows of each statement, in one round trip, and the database's clock after them. Statements have no values. */
    look: (statements: readonly string[]): Promise<Looked> =>
      again(async () => {
        const asked = clock.asked();
        const looked = await database.look(statements);
        clock.answered(asked, looked.now);
        return looked;
      }),
    /** One statement that writes, in a transaction of its own. Its rows tell the database's clock as `now`. */
    write: (name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]> =>
      again(async () => {
        const asked = clock.asked();
        const rows = await database.write(name, text, values);
        if (rows[0]) clock.answered(asked, Number(rows[0].now));
        return rows;
      }),
    /** Rejects with a `StoreError`, of code `UNAVAILABLE` if the database failed. */
    run: async <T>(work: Work<T>, opening?: readonly string[]): Promise<T> =>
      again(() => {
        const asked = clock.asked();
        return database.transact((session, now, opened) => {
          clock.answered(asked, now);
          return work(session, now, opened);
        }, opening);
      }),
    clock,
  };
}
