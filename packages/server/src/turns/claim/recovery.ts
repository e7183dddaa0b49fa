import { remember } from '@batonjs/protocol/bounded-map';
import { backoffMs } from '@batonjs/protocol/timing';
import type { Lease } from '@batonjs/store';
import { detached } from '../../base/hooks/telemetry.ts';
import { LinkedList, type ListNode } from '../../base/linked-list.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import type { Held } from '../heartbeat.ts';
import type { Reserved, Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';

/** A turn that a dead process left: claimed here, but not started again yet. */
interface Left extends Held {
  readonly since: number;
  readonly reserved: Reserved;
  readonly kept: ListNode<Held>;
  isLost: boolean;
}

/**
 * Starts the turns that dead processes left one after another: the next one when the one before has written something, has
 * ended, or has run for a tenth of the lease. A turn that crashes its process at once then takes few others with it.
 */
export function recoveryOf(
  { store, clock, telemetry, options }: TurnDependencies,
  tasks: LiveTasks,
  runner: Runner,
  unreadable: UnreadableTasks,
) {
  const { heartbeat } = runner;
  const { leaseMs } = options.timeouts;
  const left = new LinkedList<Left>();
  const stop = new AbortController();
  let over: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (let next = left.first; next && !stop.signal.aborted; next = left.first) {
      left.removeFirst();
      try {
        if (!next.isLost) await start(next);
      } catch (error) {
        // Removed first: otherwise, the heartbeat would shorten the lease again.
        heartbeat.remove(next.kept);
        await unreadable.failed(next.lease, error);
      } finally {
        heartbeat.remove(next.kept);
        next.reserved.release();
      }
    }
  }

  async function start({ lease, heldUntil }: Left): Promise<void> {
    const live = await tasks.open(lease.scope, lease.taskId);
    unreadable.opened(lease);
    if (!live) return;
    const running = runner.start(live, lease, { since: heldUntil - leaseMs, isAlone: true });
    const shown = new AbortController();
    const show = () => shown.abort();
    const look = () => {
      const { beganAt } = running.run;
      if (beganAt !== undefined && live.version > beganAt) show();
    };
    live.listeners.add(look);
    stop.signal.addEventListener('abort', show);
    void running.over.then(show);
    await clock.sleep(leaseMs / 10, shown.signal);
    stop.signal.removeEventListener('abort', show);
    live.listeners.delete(look);
  }

  return {
    /** Whether turns wait here that another process could take as well. */
    isBusy: (): boolean => over !== undefined,
    add(lease: Lease, since: number): void {
      const held: Held & { isLost: boolean } = {
        lease,
        heldUntil: since + leaseMs,
        isLost: false,
        lost() {
          held.isLost = true;
        },
      };
      left.add(Object.assign(held, { since, kept: heartbeat.add(held), reserved: runner.reserve(1) }));
      over ??= detached(telemetry, run).finally(() => {
        over = undefined;
      });
    },
    /** Starts no more, and lets other processes have those that wait. */
    async close(): Promise<void> {
      stop.abort();
      await over;
      const waiting = [...left];
      for (const { kept, reserved } of waiting) {
        heartbeat.remove(kept);
        reserved.release();
      }
      const leases = waiting.map(({ lease }) => lease);
      // Lets other processes claim them now, instead of when the leases expire.
      if (leases.length > 0) await store.renew(leases, 1).catch(() => {});
    },
  };
}

/** The longest pause before a task is tried again, in milliseconds. */
const longest = 600_000;
/** How many tasks are remembered. */
const most = 10_000;

interface Unreadable {
  readonly lease: Lease;
  readonly failures: number;
}

export type UnreadableTasks = ReturnType<typeof unreadableTasks>;

/**
 * Tasks that this process claimed and could not open. Each is retried after the time of a lease, then after twice as
 * long each time, up to 10 minutes: an unreadable task may cost seconds of reading. The lease is kept meanwhile, so
 * that other processes do not claim it either.
 */
export function unreadableTasks({ store, report, options }: TurnDependencies) {
  const { leaseMs } = options.timeouts;
  const unreadable = new Map<string, Unreadable>();
  return {
    /** The lease of a task that could not be opened is kept for longer. Never rejects. */
    async failed(lease: Lease, error: unknown): Promise<void> {
      const { taskId } = lease;
      const key = keyOf(lease);
      const failures = (unreadable.get(key)?.failures ?? 0) + 1;
      const pauses = { initialMs: leaseMs, maxMs: Math.max(leaseMs, longest), jitter: 0 };
      const retryMs = backoffMs(failures, pauses);
      remember(unreadable, key, { lease, failures }, most);
      report('A claimed task cannot be opened', { taskId, failures, retryMs, error });
      if (retryMs === leaseMs) return;
      await store.renew([lease], retryMs).catch((error: unknown) => {
        report('Could not keep the lease of a task that cannot be opened', { taskId, error });
      });
    },
    /** Forgets that a task could not be opened. */
    opened(lease: Lease): void {
      if (unreadable.size > 0) unreadable.delete(keyOf(lease));
    },
    /** Lets other processes try at once. Never rejects. */
    async close(): Promise<void> {
      const leases = [...unreadable.values()].map(({ lease }) => lease);
      unreadable.clear();
      // Leases that ran out are not held any more, which changes nothing.
      if (leases.length > 0) await store.renew(leases, 1).catch(() => {});
    },
  };
}

const keyOf = ({ scope, taskId }: Lease): string => `${taskId}\n${scope}`;
