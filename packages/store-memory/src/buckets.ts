import { type Rate, takenFrom } from '@batonjs/store';

/** How many takes there are at least between two sweeps. */
const sweepEvery = 1_000;

/** Buckets by name. Full ones are dropped by and by. */
export class Buckets {
  readonly #fullAt = new Map<string, number>();
  /** How many takes there are before the next sweep. */
  #left = sweepEvery;

  get size(): number {
    return this.#fullAt.size;
  }

  take(bucket: string, rate: Rate, now: number): number {
    const { fullAt, waitMs } = takenFrom(this.#fullAt.get(bucket), rate, now);
    this.#fullAt.set(bucket, fullAt);
    if (--this.#left === 0) this.#sweep(now);
    return waitMs;
  }

  #sweep(now: number): void {
    for (const [bucket, fullAt] of this.#fullAt) if (fullAt <= now) this.#fullAt.delete(bucket);
    // The more buckets stay, the rarer: a take costs the same however many there are.
    this.#left = Math.max(sweepEvery, this.#fullAt.size);
  }
}
