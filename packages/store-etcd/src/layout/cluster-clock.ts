import { type Moment, steadyNow } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import type { Compare } from '../wire/messages.ts';
import { timeIn, unchanged } from './keys.ts';

/** How old the time in etcd may become while leases are written, in milliseconds. */
const tickMs = 250;

/**
 * The clock that leases go by, for all processes on a cluster. etcd has no clock that clients can read, and the wall
 * clocks of machines differ and are set. So one key holds the time: each process follows it by a clock of its own that
 * is never set, and writes it when no other process has lately. While no process runs, it stands still.
 */
export class ClusterClock {
  readonly #cluster: Cluster;
  readonly #key: string;
  #ahead = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(cluster: Cluster, key: string) {
    this.#cluster = cluster;
    this.#key = key;
  }

  /** Milliseconds, an integer. Call `follow` first. */
  now(): number {
    return Math.floor(performance.now() + this.#ahead);
  }

  /** The time of all clocks, for a decision. */
  async moment(): Promise<Moment> {
    await this.follow();
    return this.present();
  }

  /** The time as this process knows it. */
  present(): Moment {
    return { now: Date.now(), orderNow: steadyNow(), leaseNow: this.now() };
  }

  /** Resolves at once, unless this process has not read the time yet. */
  async follow(): Promise<void> {
    if (performance.now() - this.#readAt < tickMs) return;
    this.#reading ??= this.#refresh().finally(() => {
      this.#reading = undefined;
    });
    if (this.#readAt === Number.NEGATIVE_INFINITY) await this.#reading;
    // Without an answer this process goes on by its own clock, as it has done so far.
    else this.#reading.catch(() => {});
  }

  async #refresh(): Promise<void> {
    // Nothing is less than the value of a key that is not there.
    const isOld = { result: 2, target: 3, key: this.#key, value: timeIn(this.now() - tickMs) };
    if (!(await this.#write(isOld))) {
      this.#advance(Date.now());
      await this.#write(unchanged(this.#key, 0));
    }
    this.#readAt = performance.now();
  }

  /** Writes the time, or takes over the one that is there. Resolves to whether the key is there now. */
  async #write(compare: Compare): Promise<boolean> {
    const key = this.#key;
    const { succeeded, responses } = await this.#cluster.transact({
      compare: [compare],
      success: [{ put: { key, value: timeIn(this.now()) } }],
      failure: [{ range: { key } }],
    });
    const kept = responses[0]?.range.kvs[0];
    if (kept) this.#advance(Number(kept.value));
    return succeeded || kept !== undefined;
  }

  #advance(time: number): void {
    this.#ahead = Math.max(this.#ahead, time - performance.now());
  }
}
