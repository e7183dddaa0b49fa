import { KeyQueues, remember, type Step } from '@batonjs/store/adapter';
import { changeOf } from '@batonjs/store/rules';
import { isLeaseGone } from '../cluster/connections.ts';
import { unchanged } from '../layout/keys.ts';
import type { Database } from '../layout/known-task.ts';

/** The most buckets whose last value this process remembers: others cost one read more. */
const mostKnown = 10_000;

/** etcd grants no lease of more than 9,000,000,000 seconds: twice two to the power of this is less. */
const longestLease = 31;

/** A bucket as this process read or wrote it last. Revision 0: there is none. */
interface Known {
  readonly revision: number;
  readonly fullAt: number | undefined;
}

const absent: Known = { revision: 0, fullAt: undefined };

/** A lease of etcd, for keys that are written until a time on the monotonic clock. */
interface Lease {
  readonly id: Promise<number>;
  readonly until: number;
}

export type Buckets = ReturnType<typeof bucketsOf>;

/** The buckets that all processes on a cluster share. A bucket that is full vanishes with its lease, a little later. */
export function bucketsOf(db: Database) {
  const queues = new KeyQueues();
  const buckets = new Map<string, Known>();
  /** By the seconds that a key has under it at least. */
  const leases = new Map<number, Lease>();

  /** Decides on the value that this process knows. If that is not the one in etcd, it decides again. */
  async function take<T>(key: string, step: Step<T>): Promise<T> {
    const { cluster, clock } = db;
    for (;;) {
      const known = buckets.get(key) ?? absent;
      const moment = clock.present();
      const { fullAt, result } = changeOf(step, { ...moment, fullAt: known.fullAt });
      const lease = fullAt === undefined ? undefined : await leaseFor(fullAt - moment.leaseNow);
      try {
        const { succeeded, header, responses } = await cluster.transact({
          compare: [unchanged(key, known.revision)],
          success: fullAt === undefined ? [] : [{ put: { key, value: String(fullAt), lease } }],
          failure: [{ range: { key } }],
        });
        const kept = responses[0]?.range.kvs[0];
        if (!succeeded) keep(key, kept && { revision: kept.modRevision, fullAt: Number(kept.value) });
        else if (fullAt !== undefined) keep(key, { revision: header.revision, fullAt });
        if (succeeded) return result;
      } catch (error) {
        // This process stood still for longer than the lease had left.
        leases.clear();
        if (!isLeaseGone(Object(error).cause)) throw error;
      }
    }
  }

  /** A lease under which a key stays for so many milliseconds. Takes of about the same time share one. */
  function leaseFor(ms: number): Promise<number> {
    const { cluster } = db;
    const atLeast = Math.max(1, ms / 1_000);
    const seconds = 2 ** Math.min(longestLease, Math.ceil(Math.log2(atLeast)));
    const known = leases.get(seconds);
    const now = performance.now();
    if (known && now < known.until) return known.id;
    const id = cluster.grantLease(2 * seconds);
    leases.set(seconds, { id, until: now + seconds * 1_000 });
    id.catch(() => leases.delete(seconds));
    return id;
  }

  const keep = (key: string, known = absent): void => void remember(buckets, key, known, mostKnown);

  return {
    /** Takes what the step decides from a bucket. */
    async change<T>(step: Step<T>, bucket: string): Promise<T> {
      await db.clock.follow();
      const key = db.keys.bucket(bucket);
      return queues.run([key], () => take(key, step));
    },
  };
}
