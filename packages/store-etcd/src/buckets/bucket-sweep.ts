import type { Database } from '../layout/database.ts';
import { alphabet } from '../layout/digest.ts';
import { inside, type Range, unchanged } from '../layout/keys.ts';
import type { KeyValue } from '../wire/messages.ts';

/** How many keys a round reads at most. */
const mostRead = 500;

/** How many rounds a sweep has at most: together they read more keys than takes can have added since the last one. */
const mostRounds = 20;

/** How many deletions share a transaction. */
const mostDeleted = 100;

/** The buckets by the first two characters of their digests. */
const slices = alphabet.length ** 2;

/**
 * Deletes the buckets that are full: some of them in each sweep, which goes on where the last one ended. etcd visits all
 * keys of a range, whatever its limit, so rounds read ranges that hold about as many keys as they may read.
 */
export class BucketSweep {
  readonly #db: Database;
  /** The slice that comes next, and how many a round reads. */
  #next = 0;
  #width = slices;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Begins a sweep, unless one runs. Resolves once it has ended. If it fails, the next one goes on there. */
  run(): Promise<void> {
    this.#running ??= this.#sweep()
      .catch(() => {})
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  /** Resolves once the sweep that runs has ended, at its next call. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #sweep(): Promise<void> {
    for (let round = 0; round < mostRounds && !this.#isClosed; round++) {
      const [{ kvs, count }] = await this.#db.cluster.read([{ ...this.#range(), limit: mostRead }]);
      if (count > mostRead && this.#width > 1) {
        this.#width = Math.ceil(this.#width / 2);
        continue;
      }
      await this.#delete(kvs);
      this.#next += this.#width;
      if (kvs.length < mostRead / 4) this.#width = Math.min(slices, this.#width * 2);
      if (this.#next < slices) continue;
      this.#next = 0;
      return;
    }
  }

  #range(): Range {
    const { key, rangeEnd } = inside(this.#db.keys.buckets);
    const end = this.#next + this.#width;
    return {
      key: this.#next === 0 ? key : this.#start(this.#next),
      rangeEnd: end < slices ? this.#start(end) : rangeEnd,
    };
  }

  /** Where a slice begins. */
  #start(slice: number): string {
    const { length } = alphabet;
    return `${this.#db.keys.buckets}${alphabet[Math.floor(slice / length)]}${alphabet[slice % length]}`;
  }

  /** Deletes those that are full. Those that change meanwhile stay. */
  async #delete(kvs: readonly KeyValue[]): Promise<void> {
    const now = this.#db.clock.now();
    const deletions = kvs.flatMap(({ key: bytes, value, modRevision }) => {
      const key = String(bytes);
      const txn = { compare: [unchanged(key, modRevision)], success: [{ delete: { key } }] };
      return Number(value) <= now ? { txn } : [];
    });
    for (let start = 0; start < deletions.length && !this.#isClosed; start += mostDeleted)
      await this.#db.cluster.transact({ success: deletions.slice(start, start + mostDeleted) });
  }
}
