import { weigh } from '@batonjs/store';
import type { Log } from './log.ts';

/** About what a log costs besides its facts, and a fact besides its content, in bytes: measured. */
const perLog = 1_500;
const perFact = 300;

/** Closed logs in the order in which they closed, and what they cost. */
export class ClosedLogs {
  readonly #most: number;
  readonly #bytes = new Map<Log, number>();
  #total = 0;

  /** `most`: how many bytes the logs may cost together before the oldest are to be deleted. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Called once for every log that closed: weighing it costs about as much as copying its facts did. */
  add(log: Log): void {
    let bytes = perLog + (log.snapshot ? weigh(log.snapshot) : 0);
    for (const { fact } of log.facts) bytes += perFact + weigh(fact);
    this.#bytes.set(log, bytes);
    this.#total += bytes;
  }

  /** Called for every closed log that was deleted. */
  delete(log: Log): void {
    this.#total -= this.#bytes.get(log) ?? 0;
    this.#bytes.delete(log);
  }

  /**
   * The logs to delete now, the first that closed first. Leaves out those that must be kept, and the one that closed
   * last: its followers have not read its end yet.
   */
  surplus(mustBeKept: (log: Log) => boolean): Log[] {
    if (this.#total <= this.#most) return [];
    const surplus: Log[] = [];
    let left = this.#total;
    let logs = this.#bytes.size;
    for (const [log, bytes] of this.#bytes) {
      if (left <= this.#most || logs-- === 1) break;
      if (mustBeKept(log)) continue;
      surplus.push(log);
      left -= bytes;
    }
    return surplus;
  }
}
