import { sleep } from '@batonjs/protocol/timing';

/** How long a statement of SQLite waits for those of other processes, in milliseconds. */
const longestWaitMs = 10_000;

/** Tries again, without blocking this process, while another connection writes the file of SQLite and `canRepeat`. */
export async function whenFree<T>(run: () => T | Promise<T>, canRepeat = () => true): Promise<T> {
  for (const until = performance.now() + longestWaitMs; ; ) {
    try {
      return await run();
    } catch (error) {
      if (!isBusy(error) || performance.now() > until || !canRepeat()) throw error;
    }
    await sleep(5 + Math.random() * 20);
  }
}

/** `better-sqlite3` has a code, `node:sqlite` a number whose lowest byte says it. */
function isBusy(error: unknown): boolean {
  const { code, errcode } = Object(error);
  return /^SQLITE_BUSY/.test(String(code)) || (typeof errcode === 'number' && (errcode & 0xff) === 5);
}

/**
 * Codes of errors after which the same transaction may succeed: of PostgreSQL for conflicts between transactions and for
 * connections that it ended or does not take now, of sockets, of postgres.js, and of Prisma.
 */
const transient =
  /^(40001|40P01|08...|57P0[123]|53300|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|CONNECT(ION)?_[A-Z_]+|P1001|P1002|P1017|P2034)$/;

/** The error of `pg` for a connection that ended has no code. */
const ended = /^(Connection terminated|Client has encountered a connection error)/;

/** Whether the database broke a transaction off: nothing was committed, and beginning again may help. */
export function isTransient(error: unknown): boolean {
  // Query builders and `step` wrap the error of the driver.
  for (
    let [cause, depth] = [Object(error), 0];
    depth < 5;
    [cause, depth] = [Object(cause.cause), depth + 1]
  ) {
    if (transient.test(String(cause.code)) || ended.test(String(cause.message))) return true;
  }
  return false;
}
