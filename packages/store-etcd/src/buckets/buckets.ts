import { type Change, type Step, StoreError } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import type { ClusterClock } from '../layout/cluster-clock.ts';
import { KeyQueues } from '../layout/key-queues.ts';
import { type Keys, unchanged } from '../layout/keys.ts';
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
  readonly #queues = new KeyQueues();
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

  /** Takes what the step decides from the bucket that it wants. */
  async change<T>(step: Step<T>): Promise<T> {
    await this.#clock.follow();
    const key = this.#keys.bucket(step.wanted.bucket!);
    const result = await this.#queues.run([key], () => this.#take(key, step));
    if (++this.#takes % sweepEvery === 0) void this.#sweep.run();
    return result;
  }

  /** Decides on the value that this process knows. If that is not the one in etcd, it decides anew. */
  async #take<T>(key: string, { decide }: Step<T>): Promise<T> {
    let known = this.#known.get(key) ?? absent;
    for (;;) {
      const found = { ...this.#clock.present(), fullAt: known.fullAt };
      const { fullAt, result } = mustBeChange(decide(found));
      const { response } = await this.#cluster.transact({
        compare: [unchanged(key, known.revision)],
        success: fullAt === undefined ? [] : [{ put: { key, value: String(fullAt) } }],
        failure: [{ range: { key } }],
      });
      if (response.succeeded) {
        if (fullAt !== undefined) this.#remember(key, { revision: response.header!.revision, fullAt });
        return result;
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

function mustBeChange<T>(decision: Change<T> | Step<T>): Change<T> {
  if ('decide' in decision) throw new StoreError('UNUSABLE', 'A bucket is decided on in one step');
  return decision;
}
