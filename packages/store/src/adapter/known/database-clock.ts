import type { Moment } from '../../rules/moment.ts';

/** For how long after an answer the clock is estimated, in milliseconds. */
const knownForMs = 60_000;

/**
 * The clock of a database, estimated between its answers. The estimate is never ahead of it: a task that waits from now on
 * can be claimed at once.
 */
export class DatabaseClock {
  /** The database's time less the monotonic clock of this process. */
  #offset = 0;
  #last = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** How far the wall clock of this process was ahead of the monotonic one at the last answer. */
  #wallAheadMs = 0;

  /**
   * The time now. Undefined without an answer of the last minute, and after this host slept, which stops its monotonic
   * clock: the database has to be asked.
   */
  moment(): Moment | undefined {
    const monotonic = performance.now();
    const jumpedMs = Math.abs(Date.now() - monotonic - this.#wallAheadMs);
    if (monotonic - this.#answeredAt > knownForMs || jumpedMs > 1_000) return undefined;
    const now = monotonic + this.#offset;
    // An estimate that is a little less than the last one is no step of the database's clock.
    this.#last = now > this.#last - 100 ? Math.max(now, this.#last) : now;
    return momentAt(this.#last);
  }

  /** When a command is sent. */
  asked(): number {
    return performance.now();
  }

  /** Notes the time that an answer tells, in milliseconds, and returns it. */
  answered(asked: number, time: number): Moment {
    const monotonic = performance.now();
    // The database read its clock after the command was sent and before the answer came.
    const [least, most] = [time - monotonic, time - asked];
    const isFirst = this.#answeredAt === Number.NEGATIVE_INFINITY;
    this.#offset = Math.max(least, Math.min(isFirst ? least : this.#offset, most));
    this.#answeredAt = monotonic;
    this.#wallAheadMs = Date.now() - monotonic;
    return momentAt(time);
  }
}

/** People's times have whole milliseconds. */
const momentAt = (time: number): Moment => ({
  now: Math.floor(time),
  orderNow: Math.floor(time),
  leaseNow: time,
});
