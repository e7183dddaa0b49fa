import type { Lease, Scope, TaskName } from '@batonjs/store';
import { subscribeToQueue } from '../../base/store/store-outage.ts';
import { newId } from '../../base/system/new-id.ts';
import { clockSteps, deadlinesOf } from '../../base/timing/deadline-timers.ts';
import { nextRound } from '../../base/timing/round-limit.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import { deadlineOf } from '../order/deadline-watch.ts';
import type { Reserved, Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';
import { recoveryOf, unreadableTasks } from './recovery.ts';

const batch = 32;
/** For one task that ends here: it takes the place of no turn. */
const ownPlace: Reserved = { turns: 1, release() {} };
/** How many milliseconds claims may block the event loop. */
const longestHoldMs = 10;

export type Claimer = ReturnType<typeof claimerOf>;

/** Claims tasks without a holder: those that want a turn, those of dead processes, and those whose time is over. */
export function claimerOf(dependencies: TurnDependencies, tasks: LiveTasks, runner: Runner) {
  const { store, clock, logger, report, versions, limit: runLimit } = dependencies;
  const { queue, pollMs, timeouts, restart, schedule } = dependencies.options;
  const { leaseMs, taskMs } = timeouts;
  const unreadable = unreadableTasks(dependencies);
  const recovery = recoveryOf(dependencies, tasks, runner, unreadable);
  /** Undefined without versions, or where tasks may take any time in all. */
  const endOverdue =
    versions && taskMs !== undefined
      ? overdueElsewhere(dependencies, tasks, taskMs, ({ scope, taskId }) =>
          claimNow(scope, taskId, { mustEnd: true }),
        )
      : undefined;
  const stop = new AbortController();
  const { signal } = stop;
  /** Claims of single tasks that are under way. */
  const claims = new Set<Promise<unknown>>();
  let unsubscribe: () => Promise<void> = async () => {};
  let notified = new AbortController();
  let over: Promise<void> | undefined;
  let ranAt = 0;
  /** Nothing is claimed before this moment of the monotonic clock. */
  let notBefore = Number.NEGATIVE_INFINITY;

  /** In a bounded run, resolves when nothing is left to claim and no turn runs; else once it is closed. */
  function start(): Promise<void> {
    // With a reason: an abort without one creates an error with a stack, for every notification.
    unsubscribe = subscribeToQueue(dependencies, () => notified.abort('notified'));
    runner.onFree(() => notified.abort('free'));
    if (!runLimit) runner.onPause(waitFor);
    over = loop();
    return over;
  }

  /**
   * Claims this one task at once, if it may be claimed, whatever the schedule says; otherwise the loop of some process
   * will. `mustEnd`: it only has to end, which needs no agent, and so does not wait until another turn has ended.
   * `dueAt`: as in `ClaimRequest`.
   */
  async function claimNow(
    scope: Scope,
    taskId: string,
    { mustEnd = false, dueAt }: { mustEnd?: boolean; dueAt?: number } = {},
  ): Promise<void> {
    if (signal.aborted) return;
    const reserved = mustEnd ? ownPlace : runner.reserve(1);
    const claiming = claim(reserved, { scope, taskId, mustEnd, dueAt }).catch((error: unknown) => {
      report('Could not claim a task', { scope, taskId, error });
    });
    claims.add(claiming);
    await claiming;
    claims.delete(claiming);
  }

  /**
   * Claims a task that was paused here once the pause is over, if the wall clock was set back meanwhile: the store compares
   * the time with it. At most twice as long as the pause, so that few lengths share their timers.
   */
  function waitFor({ scope, taskId }: TaskName, until: number): void {
    const seconds = Math.max(1, (until - clock.now()) / 1_000);
    deadlinesOf(1_000 * 2 ** Math.ceil(Math.log2(seconds)), clock).add({
      expire: () => {
        if (clock.now() < until) void claimNow(scope, taskId, { dueAt: until });
      },
    });
  }

  /** At once, as far as that goes: while the store does not answer, each of its calls takes its whole time limit. */
  async function close(): Promise<void> {
    stop.abort();
    notified.abort();
    await Promise.all([giveBack(), unsubscribe()]);
  }

  /** When nothing is claimed any more, lets other processes have what has not been started here. */
  async function giveBack(): Promise<void> {
    await Promise.all([over, ...claims]);
    await recovery.close();
    await unreadable.close();
  }

  async function loop(): Promise<void> {
    const steps = clockSteps(clock);
    while (!signal.aborted) {
      notified = new AbortController();
      const byMs = steps();
      if (byMs !== 0) logger('warn', 'The wall clock was set', { byMs });
      let more = false;
      try {
        more = await claim(runner.reserve(batch));
        if (!more) await endOverdue?.();
      } catch (error) {
        report('Could not claim tasks', { error });
      }
      if (more) await letOthersRun();
      if (more || signal.aborted) continue;
      if (runLimit && runner.running === 0 && !recovery.isBusy()) return;
      // At random intervals, so that many processes do not all poll at the same moment.
      const ms = pollMs * (0.75 + clock.random() / 2);
      const since = clock.monotonic();
      await clock.sleep(ms, notified.signal, 'idle');
      // The computer slept, or this process was stopped. Other processes may have been, too: lets them renew first.
      const now = clock.monotonic();
      if (now - since - ms > leaseMs / 3) notBefore = now + leaseMs / 3;
    }
  }

  /** On a store that never waits, a long queue would otherwise block the process. */
  async function letOthersRun(): Promise<void> {
    if (clock.monotonic() - ranAt < longestHoldMs) return;
    await nextRound();
    ranAt = clock.monotonic();
  }

  /** Releases what was reserved. Resolves whether it got as many as that, so that there may be more. */
  async function claim(
    { turns: limit, release }: Reserved,
    only?: TaskName & { readonly mustEnd: boolean; readonly dueAt: number | undefined },
  ): Promise<boolean> {
    const left: Lease[] = [];
    const since = clock.monotonic();
    let more = false;
    try {
      if (limit === 0 || since < notBefore) return false;
      // Leases of this process that are overdue are renewed and not claimed.
      if (!(await runner.heartbeat.catchUp())) return false;
      const isKept = (holder: string) => recovery.isBusy() || runner.heartbeat.isKept(holder);
      const about = { queue, holder: newId(clock), ttlMs: leaseMs, limit, isKept };
      const leases = await store.claim(
        only
          ? {
              ...about,
              task: only,
              ...(only.mustEnd && { anyVersion: true }),
              ...(only.dueAt !== undefined && { dueAt: only.dueAt }),
            }
          : schedule
            ? { ...about, schedule: schedule.turns }
            : about,
      );
      if (signal.aborted) {
        // Lets other processes claim them now, instead of when the leases expire.
        if (leases.length > 0) await store.renew(leases, 1);
        return false;
      }
      const taking: Promise<void>[] = [];
      for (const lease of leases) {
        if (restart === 'rerun' && lease.cause === 'expired') left.push(lease);
        else taking.push(take(lease, since));
      }
      await Promise.all(taking);
      // A schedule may give out less than is ready, because tasks of one caller or context follow each other.
      more = schedule ? leases.length > 0 : leases.length === limit;
    } finally {
      release();
    }
    for (const lease of left) recovery.add(lease, since);
    // While this process has such turns to start, it leaves the other ones to other processes.
    return more && left.length === 0;
  }

  async function take(lease: Lease, since: number): Promise<void> {
    const arriving = tasks.arriving(lease.scope, lease.taskId);
    try {
      const live = await tasks.open(lease.scope, lease.taskId);
      unreadable.opened(lease);
      if (live) runner.start(live, lease, { since, arriving });
    } catch (error) {
      await unreadable.failed(lease, error);
    }
  }

  return { start, claimNow, close };
}

/** How often they are looked at, in milliseconds. */
const everyMs = 5_000;

/**
 * Ends tasks whose whole time is over while their turn waits for a version that no process runs: no code of the agent goes
 * on, so any version may do it. That time begins once and never moves: one that is over stays over. `end`: claims a task and ends
 * it, unless another process has it.
 */
function overdueElsewhere(
  { versions, clock }: TurnDependencies,
  tasks: LiveTasks,
  taskMs: number,
  end: (task: TaskName) => Promise<void>,
): () => Promise<void> {
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function isOver({ scope, taskId }: TaskName): Promise<boolean> {
    const live = await tasks.open(scope, taskId);
    if (!live) return false;
    tasks.release(live);
    const deadline = deadlineOf(live.state, { taskMs });
    return deadline !== undefined && deadline <= clock.now();
  }

  return async () => {
    const now = clock.monotonic();
    if (!versions || now - lookedAt < everyMs) return;
    lookedAt = now;
    for (const { tasks } of await versions.elsewhere())
      for (const task of tasks) if (await isOver(task)) await end(task);
  };
}
