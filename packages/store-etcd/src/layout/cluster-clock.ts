import { type Moment, steadyNow } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import type { Compare } from '../wire/messages.ts';
import { timeIn, unchanged } from './keys.ts';

/** How old the time in etcd may become while leases are written, in milliseconds. */
const tickMs = 250;

export type ClusterClock = ReturnType<typeof clusterClock>;

/**
 * The clock that leases go by, for all processes on a cluster. etcd has no clock that clients can read, and the wall
 * clocks of machines differ and are set. So one key holds the time: each process follows it by a clock of its own that
 * is never set, and writes it when no other process has lately. While no process runs, it stands still.
 */
export function clusterClock(cluster: Cluster, key: string) {
  let ahead = Number.NEGATIVE_INFINITY;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  /** Milliseconds, an integer. Call `follow` first. */
  const now = (): number => Math.floor(performance.now() + ahead);

  /** The time as this process knows it. */
  const present = (): Moment => ({ now: Date.now(), orderNow: steadyNow(), leaseNow: now() });

  /** Resolves at once, unless this process has not read the time yet. */
  async function follow(): Promise<void> {
    if (performance.now() - readAt < tickMs) return;
    reading ??= refresh().finally(() => {
      reading = undefined;
    });
    if (readAt === Number.NEGATIVE_INFINITY) await reading;
    // Without an answer this process goes on by its own clock, as it has done so far.
    else reading.catch(() => {});
  }

  async function refresh(): Promise<void> {
    // Nothing is less than the value of a key that is not there.
    const isOld = { result: 2, target: 3, key, value: timeIn(now() - tickMs) };
    if (!(await write(isOld))) {
      advance(Date.now());
      await write(unchanged(key, 0));
    }
    readAt = performance.now();
  }

  /** Writes the time, or takes over the one that is there. Resolves to whether the key is there now. */
  async function write(compare: Compare): Promise<boolean> {
    const { succeeded, responses } = await cluster.transact({
      compare: [compare],
      success: [{ put: { key, value: timeIn(now()) } }],
      failure: [{ range: { key } }],
    });
    const kept = responses[0]?.range.kvs[0];
    if (kept) advance(Number(kept.value));
    return succeeded || kept !== undefined;
  }

  function advance(time: number): void {
    ahead = Math.max(ahead, time - performance.now());
  }

  return {
    now,
    /** The time of all clocks, for a decision. */
    async moment(): Promise<Moment> {
      await follow();
      return present();
    },
    present,
    follow,
  };
}
