/** How many buckets a write looks at, to drop those that are full: more than it can add. */
const sweptPerWrite = 2;

/** When each bucket is full. Full ones are dropped by and by, at the same cost for every write however many there are. */
export class Buckets {
  readonly #fullAt = new Map<string, number>();
  /** Goes on where the last write ended, and sees buckets that were added since. */
  #sweep = this.#fullAt.entries();

  get size(): number {
    return this.#fullAt.size;
  }

  get(bucket: string): number | undefined {
    return this.#fullAt.get(bucket);
  }

  set(bucket: string, fullAt: number, now: number): void {
    this.#fullAt.set(bucket, fullAt);
    for (let n = 0; n < sweptPerWrite; n++) this.#sweepOne(now);
  }

  #sweepOne(now: number): void {
    const { value, done } = this.#sweep.next();
    if (done) this.#sweep = this.#fullAt.entries();
    else if (value[1] <= now) this.#fullAt.delete(value[0]);
  }
}
