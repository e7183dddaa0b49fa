import type { Log } from './log.ts';

/** Closed logs in the order in which they closed, and how many bytes they take: a list linked through the logs. */
export class ClosedLogs {
  readonly #most: number;
  #oldest: Log | undefined;
  #newest: Log | undefined;
  #total = 0;

  /** `most`: how many bytes the logs may cost together before the oldest are to be deleted. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether there may be some to delete. */
  get isFull(): boolean {
    return this.#total > this.#most;
  }

  /** Called once for every log that closed. */
  add(log: Log): void {
    log.older = this.#newest;
    if (this.#newest) this.#newest.newer = log;
    else this.#oldest = log;
    this.#newest = log;
    this.#total += log.bytes;
  }

  /** Called for every closed log that was deleted. */
  delete(log: Log): void {
    const { older, newer } = log;
    if (older) older.newer = newer;
    else if (this.#oldest === log) this.#oldest = newer;
    else return;
    if (newer) newer.older = older;
    else this.#newest = older;
    log.older = undefined;
    log.newer = undefined;
    this.#total -= log.bytes;
  }

  /**
   * The logs to delete now, the first that closed first. Leaves out those that must be kept, and the one that closed
   * last: its followers have not read its end yet.
   */
  surplus(mustBeKept: (log: Log) => boolean): Log[] {
    const surplus: Log[] = [];
    let left = this.#total;
    for (let log = this.#oldest; log?.newer && left > this.#most; log = log.newer) {
      if (mustBeKept(log)) continue;
      surplus.push(log);
      left -= log.bytes;
    }
    return surplus;
  }
}
