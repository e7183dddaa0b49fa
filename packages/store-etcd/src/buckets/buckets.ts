import { changeOf, type Step } from '@batonjs/store';
import type { Database } from '../layout/database.ts';
import { KeyQueues } from '../layout/key-queues.ts';
import { unchanged } from '../layout/keys.ts';
import { remember } from '../layout/remember.ts';
import { BucketSweep } from './bucket-sweep.ts';

/** How many takes of this process there are between two sweeps. */
const sweepEvery = 1_000;

/** The most buckets whose last value this process remembers: others cost one read more. */
const mostKnown = 10_000;

/** A bucket as this process read or wrote it last. Revision 0: there is none. */
interface Known {
  readonly revision: number;
  readonly fullAt: number | undefined;
}

const absent: Known = { revision: 0, fullAt: undefined };

/** The buckets that all processes on a cluster share. */
export class Buckets {
  readonly #db: Database;
  readonly #queues = new KeyQueues();
  readonly #known = new Map<string, Known>();
  readonly #sweep: BucketSweep;
  #takes = 0;

  constructor(db: Database) {
    this.#db = db;
    this.#sweep = new BucketSweep(db);
  }

  /** Ends the sweep that runs. */
  close(): Promise<void> {
    return this.#sweep.close();
  }

  /** Takes what the step decides from a bucket. */
  async change<T>(step: Step<T>, bucket: string): Promise<T> {
    await this.#db.clock.follow();
    const key = this.#db.keys.bucket(bucket);
    const result = await this.#queues.run([key], () => this.#take(key, step));
    if (++this.#takes % sweepEvery === 0) void this.#sweep.run();
    return result;
  }

  /** Decides on the value that this process knows. If that is not the one in etcd, it decides anew. */
  async #take<T>(key: string, step: Step<T>): Promise<T> {
    for (;;) {
      const known = this.#known.get(key) ?? absent;
      const { fullAt, result } = changeOf(step, { ...this.#db.clock.present(), fullAt: known.fullAt });
      const { succeeded, header, responses } = await this.#db.cluster.transact({
        compare: [unchanged(key, known.revision)],
        success: fullAt === undefined ? [] : [{ put: { key, value: String(fullAt) } }],
        failure: [{ range: { key } }],
      });
      const kept = responses[0]?.range.kvs[0];
      if (!succeeded) this.#remember(key, kept && { revision: kept.modRevision, fullAt: Number(kept.value) });
      else if (fullAt !== undefined) this.#remember(key, { revision: header.revision, fullAt });
      if (succeeded) return result;
    }
  }

  #remember(key: string, known = absent): void {
    remember(this.#known, key, known, mostKnown);
  }
}
