import { type Rate, takenFrom } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import type { Keys } from '../layout/keys.ts';
import { unchanged } from '../tasks/known-tasks.ts';
import { Lanes } from '../tasks/lanes.ts';
import type { KeyValue } from '../wire/messages.ts';
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
  readonly #cluster: Cluster;
  readonly #keys: Keys;
  readonly #clock: ClusterClock;
  readonly #lanes = new Lanes();
  readonly #known = new Map<string, Known>();
  readonly #sweep: BucketSweep;
  #takes = 0;

  constructor(cluster: Cluster, keys: Keys, clock: ClusterClock) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#clock = clock;
    this.#sweep = new BucketSweep(cluster, keys, clock);
  }

  /** Ends the sweep that runs. */
  close(): Promise<void> {
    return this.#sweep.close();
  }

  async take(name: string, rate: Rate): Promise<number> {
    await this.#clock.follow();
    const key = this.#keys.bucket(name);
    const waitMs = await this.#lanes.run(key, () => this.#take(key, rate));
    if (++this.#takes % sweepEvery === 0) void this.#sweep.run();
    return waitMs;
  }

  /** Writes what it decided on the value that it knows. If that is not the one in etcd, it decides anew. */
  async #take(key: string, rate: Rate): Promise<number> {
    let known = this.#known.get(key) ?? absent;
    for (;;) {
      const { fullAt, waitMs } = takenFrom(known.fullAt, rate, this.#clock.now());
      const { response } = await this.#cluster.transact({
        compare: [unchanged(key, known.revision)],
        success: fullAt === known.fullAt ? [] : [{ put: { key, value: String(fullAt) } }],
        failure: [{ range: { key } }],
      });
      if (response.succeeded) {
        if (fullAt !== known.fullAt) this.#remember(key, { revision: response.header!.revision, fullAt });
        return waitMs;
      }
      known = readingOf(response.responses[0]?.range?.kvs[0]);
      this.#remember(key, known);
    }
  }

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.keys().next().value!);
  }
}

const readingOf = (kept: KeyValue | undefined): Known =>
  kept ? { revision: kept.modRevision, fullAt: Number(kept.value) } : absent;
