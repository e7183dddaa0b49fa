import { type Moment, steadyNow } from '@batonjs/store';
import type { Cluster } from '../cluster/cluster.ts';
import { unchanged } from './keys.ts';
import { timeIn } from './order.ts';

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
    const kept = await this.#cluster.get(this.#key);
    this.#advance(kept ? Number(kept.value) : Date.now());
    if (kept) this.#readAt = performance.now();
    if (!kept || this.now() - Number(kept.value) > tickMs) await this.#write(kept !== undefined);
    this.#readAt = performance.now();
  }

  /** Writes the time, or takes over a later one. */
  async #write(isThere: boolean): Promise<void> {
    const [key, value] = [this.#key, timeIn(this.now())];
    // Nothing is less than the value of a key that is not there.
    const isEarlier = { result: 2, target: 3, key, value };
    const { responses } = await this.#cluster.transact({
      compare: [isThere ? isEarlier : unchanged(key, 0)],
      success: [{ put: { key, value } }],
      failure: [{ range: { key } }],
    });
    const later = responses[0]?.range.kvs[0];
    if (later) this.#advance(Number(later.value));
  }

  #advance(time: number): void {
    this.#ahead = Math.max(this.#ahead, time - performance.now());
  }
}
