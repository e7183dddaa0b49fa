import { type Rate, takenFrom } from '@batonjs/store';
import type { Cluster } from './cluster/cluster.ts';
import type { ClusterClock } from './layout/cluster-clock.ts';
import { inside, type Keys } from './layout/keys.ts';
import { unchanged } from './tasks/known-tasks.ts';
import { Lanes } from './tasks/lanes.ts';
import type { KeyValue } from './wire/messages.ts';

/** How many takes of this process there are between two sweeps. */
const sweepEvery = 1_000;

/** How many keys a sweep reads and deletes at once. */
const atOnce = 100;

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
  #takes = 0;

  constructor(cluster: Cluster, keys: Keys, clock: ClusterClock) {
    this.#cluster = cluster;
    this.#keys = keys;
    this.#clock = clock;
  }

  async take(name: string, rate: Rate): Promise<number> {
    await this.#clock.follow();
    const key = this.#keys.bucket(name);
    const waitMs = await this.#lanes.run(key, () => this.#take(key, rate));
    if (++this.#takes % sweepEvery === 0) await this.#sweep();
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

  /** Deletes the buckets that are full. Those that change meanwhile stay. */
  async #sweep(): Promise<void> {
    const folder = inside(this.#keys.buckets);
    for (let key = folder.key; ; ) {
      const [range] = await this.#cluster.read([{ ...folder, key, limit: atOnce }]);
      const now = this.#clock.now();
      const full = range!.kvs.filter((kept) => Number(kept.value) <= now);
      await Promise.all(
        full.map((kept) =>
          this.#cluster.transact({
            compare: [unchanged(String(kept.key), kept.modRevision)],
            success: [{ delete: { key: String(kept.key) } }],
          }),
        ),
      );
      if (range!.kvs.length < atOnce) return;
      key = `${range!.kvs.at(-1)!.key}\0`;
    }
  }
}

const readingOf = (kept: KeyValue | undefined): Known =>
  kept ? { revision: kept.modRevision, fullAt: Number(kept.value) } : absent;
