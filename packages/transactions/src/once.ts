import { backoffMs, sleep } from '@batonjs/protocol/timing';
import type { TransactionKey } from '@batonjs/server/internals';
import type { Dialect, SqlDriver, SqlValue } from './sql-driver.ts';
import { creatingTables, now } from './tables/schema.ts';
import { isTransient, whenFree } from './tables/when-free.ts';
import { TransactionError } from './transaction-error.ts';

/** A result that is recorded. */
interface Recorded {
  readonly result: unknown;
}

/** How long a transaction is begun again that the database broke off, in milliseconds. */
const retryMs = 30_000;

/**
 * Runs `run` in a transaction that also records its JSON result, unless one is recorded for the key. Begins again where
 * the database broke the transaction off. See `TransactionDatabase` of `@batonjs/server`.
 */
export async function once<Tx>(
  session: SqlSession<Tx>,
  key: TransactionKey,
  run: (tx: Tx) => Promise<unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  const until = performance.now() + retryMs;
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt(session, key, run, signal);
    } catch (error) {
      if (TransactionError.is(error) || !isTransient(error) || performance.now() > until) throw error;
    }
    await sleep(backoffMs(failures, { initialMs: 20, maxMs: 2_000, jitter: 0.5 }), signal);
    signal.throwIfAborted();
  }
}

/** Tries once. Rejects, unless with `OUTCOME_UNKNOWN`, only if nothing was committed. */
async function attempt<Tx>(
  session: SqlSession<Tx>,
  key: TransactionKey,
  run: (tx: Tx) => Promise<unknown>,
  signal: AbortSignal,
): Promise<unknown> {
  let earlier: Recorded | undefined;
  let isComplete = false;
  try {
    return await session.transaction(async (tx) => {
      earlier = await enter(session, tx, key);
      if (earlier) return earlier.result;
      const result = await run(tx);
      await record(session, tx, key, result);
      isComplete = true;
      return result;
    });
  } catch (error) {
    // It was committed before; nothing depends on this transaction.
    if (earlier) return earlier.result;
    if (!isComplete) throw error;
    const recorded = await lookAgain(session, key, error, signal);
    if (!recorded) throw error;
    return recorded.result;
  }
}

/**
 * Locks the row of the task until the end of the transaction, so that its transactions follow each other, and reads
 * what an earlier one recorded. Throws `FENCED` if a larger fence was here.
 */
async function enter<Tx>(
  session: SqlSession<Tx>,
  tx: Tx,
  { scope, taskId, turn, name, fence }: TransactionKey,
): Promise<Recorded | undefined> {
  const [task] = await session.query(
    tx,
    `insert into baton_transaction_tasks (scope, task, fence, at)
values ($1, $2, $3, ${now[session.dialect]})
on conflict (scope, task) do update set at = excluded.at, fence = case
  when baton_transaction_tasks.fence > excluded.fence then baton_transaction_tasks.fence else excluded.fence end
returning fence`,
    [scope, taskId, fence],
  );
  if (Number(task?.fence) !== fence)
    throw new TransactionError('FENCED', `The task belongs to a later turn, so "${name}" was not committed`);
  // A statement of its own: one that waited for the lock would not see what was committed meanwhile.
  const [row] = await session.query(
    tx,
    'select result from baton_transactions where scope = $1 and task = $2 and turn = $3 and name = $4',
    [scope, taskId, turn, name],
  );
  return row && { result: JSON.parse(String(row.result)) };
}

async function record<Tx>(
  session: SqlSession<Tx>,
  tx: Tx,
  { scope, taskId, turn, name, fence }: TransactionKey,
  result: unknown,
): Promise<void> {
  await session.query(
    tx,
    `insert into baton_transactions (scope, task, turn, name, fence, result, at)
values ($1, $2, $3, $4, $5, $6, ${now[session.dialect]})`,
    [scope, taskId, turn, name, fence, JSON.stringify(result)],
  );
}

/**
 * Finds out whether a transaction was committed whose commit failed. Entering waits for that transaction, if the database
 * is still busy with it. Asks until the database answers, or rejects with `OUTCOME_UNKNOWN` when the turn is over.
 */
async function lookAgain<Tx>(
  session: SqlSession<Tx>,
  key: TransactionKey,
  cause: unknown,
  signal: AbortSignal,
): Promise<Recorded | undefined> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await session.transaction((tx) => enter(session, tx, key));
    } catch (error) {
      if (TransactionError.is(error)) throw error;
    }
    await sleep(backoffMs(failures, { initialMs: 50, maxMs: 5_000 }), signal);
    if (signal.aborted)
      throw new TransactionError(
        'OUTCOME_UNKNOWN',
        `The connection broke while "${key.name}" was committed, and the database cannot be asked`,
        cause,
      );
  }
}

/** A row of a result, by the names of its columns. */
type SqlRow = Readonly<Record<string, unknown>>;

/** Creating a table twice at once fails in PostgreSQL, `if not exists` or not. */
const lock = 'select pg_advisory_xact_lock(7310425961082)::text as locked';

/** The statements of this package in transactions of one database. */
export class SqlSession<Tx> {
  readonly #driver: SqlDriver<Tx>;
  #hasTables = false;

  constructor(driver: SqlDriver<Tx>) {
    this.#driver = driver;
  }

  get dialect(): Dialect {
    return this.#driver.dialect;
  }

  /**
   * Begins a transaction that has the tables. Waits for a file that another process writes, without blocking this one,
   * whatever the timeout of the connection is.
   */
  transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T> {
    let isEntered = false;
    const attempt = () =>
      this.#driver.transaction(async (tx) => {
        await this.ensureTables(tx);
        isEntered = true;
        return await run(tx);
      });
    return whenFree(attempt, () => !isEntered);
  }

  /** Runs a statement whose values stand as `$1`, `$2` … in their order, each of them once. */
  async query(tx: Tx, statement: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const text = this.dialect === 'postgres' ? statement : statement.replace(/\$\d+/g, '?');
    return (await this.#driver.query(tx, text, values)).map(Object);
  }

  /** Creates the tables in this transaction if they are missing. */
  async ensureTables(tx: Tx): Promise<void> {
    if (this.#hasTables) return;
    if (await (this.dialect === 'postgres' ? this.#findTables(tx) : this.#lockTables(tx))) return;
    if (this.dialect === 'postgres') await this.query(tx, lock);
    for (const statement of creatingTables(this.dialect)) await this.query(tx, statement);
  }

  /** A transaction that created them may be rolled back: only tables that were there before are relied upon. */
  async #findTables(tx: Tx): Promise<boolean> {
    const found = await this.query(
      tx,
      "select 1 as found where to_regclass('baton_submissions') is not null",
    );
    this.#hasTables = found.length > 0;
    return this.#hasTables;
  }

  /** SQLite refuses a transaction that first reads and then writes, if another one wrote in between. */
  async #lockTables(tx: Tx): Promise<boolean> {
    try {
      await this.query(tx, 'delete from baton_submissions where false');
      return true;
    } catch (error) {
      if (!/no such table/.test(String(error))) throw error;
      return false;
    }
  }
}
