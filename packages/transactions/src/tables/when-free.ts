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
