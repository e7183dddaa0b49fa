import type { Lease, Scope, TaskName } from '@batonjs/store';
import { subscribeToQueue } from '../../base/store/store-outage.ts';
import { newId } from '../../base/system/new-id.ts';
import { ClockSteps, deadlinesOf } from '../../base/timing/deadline-timers.ts';
import { nextRound } from '../../base/timing/round-limit.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import { deadlineOf } from '../order/deadline-watch.ts';
import type { Reserved, Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';
import { Recovery, UnreadableTasks } from './recovery.ts';

const batch = 32;
/** For one task that ends here: it takes the place of no turn. */
const ownPlace: Reserved = { turns: 1, release() {} };
/** How many milliseconds claims may block the event loop. */
const longestHoldMs = 10;

/** Claims tasks without a holder: those that want a turn, those of dead processes, and those whose time is over. */
export class Claimer {
  readonly #dependencies: TurnDependencies;
  readonly #tasks: LiveTasks;
  readonly #runner: Runner;
  readonly #unreadable: UnreadableTasks;
  readonly #recovery: Recovery;
  /** Undefined without versions, or where tasks may take any time in all. */
  readonly #endOverdue: (() => Promise<void>) | undefined;
  readonly #stop = new AbortController();
  /** Claims of single tasks that are under way. */
  readonly #now = new Set<Promise<unknown>>();
  #unsubscribe: () => Promise<void> = async () => {};
  #notified = new AbortController();
  #over: Promise<void> | undefined;
  #ranAt = 0;
  /** Nothing is claimed before this moment of the monotonic clock. */
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(dependencies: TurnDependencies, tasks: LiveTasks, runner: Runner) {
    this.#dependencies = dependencies;
    this.#tasks = tasks;
    this.#runner = runner;
    this.#unreadable = new UnreadableTasks(dependencies);
    this.#recovery = new Recovery(dependencies, tasks, runner, this.#unreadable);
    const { taskMs } = dependencies.options.timeouts;
    if (dependencies.versions && taskMs !== undefined)
      this.#endOverdue = overdueElsewhere(dependencies, tasks, taskMs, ({ scope, taskId }) =>
        this.claimNow(scope, taskId, { mustEnd: true }),
      );
  }

  /** In a bounded run, resolves when nothing is left to claim and no turn runs; else once it is closed. */
  start(): Promise<void> {
    // With a reason: an abort without one creates an error with a stack, for every notification.
    this.#unsubscribe = subscribeToQueue(this.#dependencies, () => this.#notified.abort('notified'));
    this.#runner.onFree(() => this.#notified.abort('free'));
    if (!this.#dependencies.limit) this.#runner.onPause((task, until) => this.#waitFor(task, until));
    this.#over = this.#loop();
    return this.#over;
  }

  /**
   * Claims this one task at once, if it may be claimed, whatever the schedule says; otherwise the loop of some process
   * will. `mustEnd`: it only has to end, which needs no agent, and so does not wait until another turn has ended.
   * `dueAt`: as in `ClaimRequest`.
   */
  async claimNow(
    scope: Scope,
    taskId: string,
    { mustEnd = false, dueAt }: { mustEnd?: boolean; dueAt?: number } = {},
  ): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const reserved = mustEnd ? ownPlace : this.#runner.reserve(1);
    const only = { scope, taskId, mustEnd, dueAt };
    const claiming = this.#claim(reserved, only).catch((error: unknown) => {
      this.#dependencies.report('Could not claim a task', { scope, taskId, error });
    });
    this.#now.add(claiming);
    await claiming;
    this.#now.delete(claiming);
  }

  /**
   * Claims a task that was paused here once the pause is over, if the wall clock was set back meanwhile: the store compares
   * the time with it. At most twice as long as the pause, so that few lengths share their timers.
   */
  #waitFor({ scope, taskId }: TaskName, until: number): void {
    const { clock } = this.#dependencies;
    const seconds = Math.max(1, (until - clock.now()) / 1_000);
    deadlinesOf(1_000 * 2 ** Math.ceil(Math.log2(seconds)), clock).add({
      expire: () => {
        if (clock.now() < until) void this.claimNow(scope, taskId, { dueAt: until });
      },
    });
  }

  /** At once, as far as that goes: while the store does not answer, each of its calls takes its whole time limit. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#notified.abort();
    await Promise.all([this.#giveBack(), this.#unsubscribe()]);
  }

  /** When nothing is claimed any more, lets other processes have what has not been started here. */
  async #giveBack(): Promise<void> {
    await Promise.all([this.#over, ...this.#now]);
    await this.#recovery.close();
    await this.#unreadable.close();
  }

  async #loop(): Promise<void> {
    const { clock, logger, report } = this.#dependencies;
    const { pollMs, timeouts } = this.#dependencies.options;
    const { leaseMs } = timeouts;
    const steps = new ClockSteps(clock);
    while (!this.#stop.signal.aborted) {
      this.#notified = new AbortController();
      const byMs = steps.next();
      if (byMs !== 0) logger('warn', 'The wall clock was set', { byMs });
      let more = false;
      try {
        more = await this.#claim(this.#runner.reserve(batch));
        if (!more) await this.#endOverdue?.();
      } catch (error) {
        report('Could not claim tasks', { error });
      }
      if (more) await this.#letOthersRun();
      if (more || this.#stop.signal.aborted) continue;
      if (this.#dependencies.limit && this.#runner.running === 0 && !this.#recovery.isBusy) return;
      // At random intervals, so that many processes do not all poll at the same moment.
      const ms = pollMs * (0.75 + clock.random() / 2);
      const since = clock.monotonic();
      await clock.sleep(ms, this.#notified.signal, 'idle');
      // The computer slept, or this process was stopped. Other processes may have been, too: lets them renew first.
      const now = clock.monotonic();
      if (now - since - ms > leaseMs / 3) this.#notBefore = now + leaseMs / 3;
    }
  }

  /** On a store that never waits, a long queue would otherwise block the process. */
  async #letOthersRun(): Promise<void> {
    const now = this.#dependencies.clock.monotonic();
    if (now - this.#ranAt < longestHoldMs) return;
    await nextRound();
    this.#ranAt = this.#dependencies.clock.monotonic();
  }

  /** Releases what was reserved. Resolves whether it got as many as that, so that there may be more. */
  async #claim(
    { turns: limit, release }: Reserved,
    only?: TaskName & { readonly mustEnd: boolean; readonly dueAt: number | undefined },
  ): Promise<boolean> {
    const { store, clock } = this.#dependencies;
    const { queue, timeouts, restart, schedule } = this.#dependencies.options;
    const left: Lease[] = [];
    const since = clock.monotonic();
    let more = false;
    try {
      if (limit === 0 || since < this.#notBefore) return false;
      // Leases of this process that are overdue are renewed and not claimed.
      if (!(await this.#runner.heartbeat.catchUp())) return false;
      const isKept = (holder: string) => this.#recovery.isBusy || this.#runner.heartbeat.isKept(holder);
      const about = { queue, holder: newId(clock), ttlMs: timeouts.leaseMs, limit, isKept };
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
      if (this.#stop.signal.aborted) {
        // Lets other processes claim them now, instead of when the leases expire.
        if (leases.length > 0) await store.renew(leases, 1);
        return false;
      }
      const taking: Promise<void>[] = [];
      for (const lease of leases) {
        if (restart === 'rerun' && lease.cause === 'expired') left.push(lease);
        else taking.push(this.#take(lease, since));
      }
      await Promise.all(taking);
      // A schedule may give out less than is ready, because tasks of one caller or context follow each other.
      more = schedule ? leases.length > 0 : leases.length === limit;
    } finally {
      release();
    }
    for (const lease of left) this.#recovery.add(lease, since);
    // While this process has such turns to start, it leaves the other ones to other processes.
    return more && left.length === 0;
  }

  async #take(lease: Lease, since: number): Promise<void> {
    const arriving = this.#tasks.arriving(lease.scope, lease.taskId);
    try {
      const live = await this.#tasks.open(lease.scope, lease.taskId);
      this.#unreadable.opened(lease);
      if (live) this.#runner.start(live, lease, { since, arriving });
    } catch (error) {
      await this.#unreadable.failed(lease, error);
    }
  }
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
