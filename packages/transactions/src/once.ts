import { backoffMs, sleep } from '@batonjs/protocol/timing';
import type { TransactionKey } from '@batonjs/server/internals';
import type { SqlSession } from './sql-session.ts';
import { isTransient } from './tables/is-transient.ts';
import { now } from './tables/schema.ts';
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
 * Finds out whether a transaction was committed whose commit failed. Entering waits for that transaction, if the
 * database is still busy with it. Asks until the database answers, or rejects with `OUTCOME_UNKNOWN` when the turn is
 * over.
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
