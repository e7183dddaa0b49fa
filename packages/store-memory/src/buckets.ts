import { type Rate, takenFrom } from '@batonjs/store';

/** How many buckets a take looks at, to drop those that are full: more than it can add. */
const sweptPerTake = 2;

/** Buckets by name. Full ones are dropped by and by, at the same cost for every take however many there are. */
export class Buckets {
  readonly #fullAt = new Map<string, number>();
  /** Goes on where the last take ended, and sees buckets that were added since. */
  #sweep = this.#fullAt.entries();

  get size(): number {
    return this.#fullAt.size;
  }

  take(bucket: string, rate: Rate, now: number): number {
    const { fullAt, waitMs } = takenFrom(this.#fullAt.get(bucket), rate, now);
    this.#fullAt.set(bucket, fullAt);
    for (let n = 0; n < sweptPerTake; n++) this.#sweepOne(now);
    return waitMs;
  }

  #sweepOne(now: number): void {
    const { value, done } = this.#sweep.next();
    if (done) this.#sweep = this.#fullAt.entries();
    else if (value[1] <= now) this.#fullAt.delete(value[0]);
  }
}
