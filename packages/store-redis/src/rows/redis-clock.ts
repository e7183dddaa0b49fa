import type { Moment } from '@batonjs/store';

/**
 * The clock of Redis, estimated between its answers. The estimate is never ahead of it: a task that waits from now on
 * can be claimed at once.
 */
export class RedisClock {
  /** Redis's time less the monotonic clock of this process. */
  #offset: number | undefined;
  #last = 0;

  /** The time now. Before the first answer: that of this process. */
  moment(): Moment {
    const now = this.#offset === undefined ? Date.now() : performance.now() + this.#offset;
    // An estimate that is a little less than the last one is no step of Redis's clock.
    this.#last = now > this.#last - 100 ? Math.max(now, this.#last) : now;
    return momentAt(this.#last);
  }

  /** When a command is sent. */
  asked(): number {
    return performance.now();
  }

  /** Notes the time that an answer tells, in milliseconds, and returns it. */
  answered(asked: number, time: number): Moment {
    // Redis read its clock after the command was sent and before the answer came.
    const [least, most] = [time - performance.now(), time - asked];
    this.#offset = Math.max(least, Math.min(this.#offset ?? least, most));
    return momentAt(time);
  }
}

/** People's times have whole milliseconds. */
const momentAt = (time: number): Moment => ({
  now: Math.floor(time),
  orderNow: Math.floor(time),
  leaseNow: time,
});
