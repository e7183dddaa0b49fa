import type { Log } from './log.ts';

/**
 * Closed logs in the order in which they closed, and how many bytes they take: a list linked through the logs. `most`: how
 * many bytes they may cost together before the oldest are to be deleted.
 */
export function closedLogs(most: number) {
  let oldest: Log | undefined;
  let newest: Log | undefined;
  let total = 0;

  return {
    /** Called once for every log that closed. */
    add(log: Log): void {
      log.older = newest;
      if (newest) newest.newer = log;
      else oldest = log;
      newest = log;
      total += log.bytes;
    },
    /** Called for every closed log that was deleted. */
    delete(log: Log): void {
      const { older, newer } = log;
      if (older) older.newer = newer;
      else if (oldest === log) oldest = newer;
      else return;
      if (newer) newer.older = older;
      else newest = older;
      log.older = undefined;
      log.newer = undefined;
      total -= log.bytes;
    },
    /**
     * The logs to delete now, the first that closed first. Leaves out those that must be kept, and the one that closed
     * last: its followers have not read its end yet.
     */
    surplus(mustBeKept: (log: Log) => boolean): Log[] {
      const surplus: Log[] = [];
      let left = total;
      for (let log = oldest; log?.newer && left > most; log = log.newer) {
        if (mustBeKept(log)) continue;
        surplus.push(log);
        left -= log.bytes;
      }
      return surplus;
    },
    /** Whether there may be some to delete. */
    get isFull(): boolean {
      return total > most;
    },
  };
}
