import type { Lease, TaskName } from '@batonjs/store';
import { LinkedList } from '../base/linked-list.ts';
import { work } from '../base/timing/hold-process.ts';
import { roundLimit } from '../base/timing/round-limit.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { LiveTasks } from '../log/live-tasks.ts';
import { heartbeatOf, stallWatch } from './heartbeat.ts';
import { TaskRun } from './task-run.ts';
import { TaskWriter } from './task-writer.ts';
import type { Begin, TurnDependencies } from './turn-dependencies.ts';

/**
 * How many turns start in one round of the event loop. Agents that wait for nothing would otherwise all run to their end
 * before the next request is read.
 */
const startsPerRound = 64;

/** Places that are kept for turns that may start here soon. */
export interface Reserved {
  readonly turns: number;
  /** To be called once, when those that start here have started. */
  release(): void;
}

/** A turn that runs here. */
export interface Running {
  readonly run: TaskRun;
  over: Promise<void>;
}

export interface StartOptions extends Begin {
  readonly since: number;
  readonly isAlone?: boolean;
  readonly requestId?: string | undefined;
}

export type Runner = ReturnType<typeof runnerOf>;

/** The turns that run in this process. */
export function runnerOf(dependencies: TurnDependencies, tasks: LiveTasks) {
  const runs = new LinkedList<Running>();
  const enterRound = roundLimit(startsPerRound);
  let reserved = 0;
  let refused = false;
  let isDraining = false;
  let isClosed = false;
  let becomeIdle: () => void = () => {};
  const idle = new Promise<void>((resolve) => {
    becomeIdle = resolve;
  });
  let freed: () => void = () => {};
  let paused: (task: TaskName, until: number) => void = () => {};
  const heartbeat = heartbeatOf(dependencies);
  const stalls = stallWatch(dependencies);

  /** Ends the drain if no turn runs, and no place is reserved. */
  function endIfIdle(): void {
    if (!isDraining || runs.size > 0 || reserved > 0) return;
    // At once: a request could otherwise reserve a place before the drain goes on.
    isClosed = true;
    becomeIdle();
  }

  function leave(leave: () => unknown): void {
    leave();
    endIfIdle();
    if (!refused || free() <= 0) return;
    refused = false;
    freed();
  }

  function free(): number {
    return dependencies.options.limits.turns - runs.size - reserved;
  }

  const runner = {
    /**
     * Reserves a place for each of at most `most` turns, or for as many as may still start: none once the process is
     * drained. To be called before the store is asked: concurrent claims would otherwise all use the same places.
     */
    reserve(most: number): Reserved {
      const turns = isClosed ? 0 : Math.max(0, Math.min(most, free()));
      reserved += turns;
      if (turns === 0 && most > 0) refused = true;
      return { turns, release: () => leave(() => (reserved -= turns)) };
    },
    /** Calls `listener` when a place is free after a reservation got none; with a schedule or limit, when a turn ends. */
    onFree(listener: () => void): void {
      freed = listener;
    },
    /** Calls `listener` when a turn was paused here, with the time at which it goes on: milliseconds since 1970. */
    onPause(listener: (task: TaskName, until: number) => void): void {
      paused = listener;
    },
    /**
     * Starts the run of a leased task. Takes over the caller's use of `live`. `since`: the monotonic time before the lease
     * was asked for; `isAlone`: the turn is tried before others are; `requestId`: of the request that it starts with.
     */
    start(
      live: LiveTask,
      lease: Lease,
      { since, isAlone = false, requestId, ...begin }: StartOptions,
    ): Running {
      const { limit, options } = dependencies;
      const { schedule } = options;
      if (limit) limit.turns++;
      const task = new TaskWriter(live, lease, since, dependencies, runner);
      const run = new TaskRun(task, dependencies, isAlone || runs.size === 0, requestId);
      const kept = heartbeat.add(task);
      stalls.turnStarts();
      const running: Running = { run, over: Promise.resolve() };
      const node = runs.add(running);
      if (work.count++ === 0) work.hold();
      // The lease was asked for before the process was drained.
      if (isClosed) run.halt('shutdown');
      const later = enterRound();
      const ended = later ? later.then(() => run.run(begin)) : run.run(begin);
      running.over = ended.then(() => {
        if (--work.count === 0) work.letGo();
        heartbeat.remove(kept);
        stalls.turnEnds();
        tasks.release(live);
        leave(() => runs.remove(node));
        if (schedule || limit) freed();
        if (run.pausedUntil !== undefined) paused(live, run.pausedUntil);
      });
      return running;
    },
    /**
     * Waits for the turns that run, and for those that are about to start, for at most `graceMs` milliseconds; then ends
     * them as `restart` says. No turn runs after that: one whose lease arrives later is ended before its agent is called.
     */
    async drain(graceMs: number): Promise<void> {
      const done = new AbortController();
      isDraining = true;
      endIfIdle();
      void idle.then(() => done.abort());
      await Promise.race([idle, dependencies.clock.sleep(graceMs, done.signal)]);
      isClosed = true;
      for (const { run } of runs) run.halt(dependencies.limit ? 'overtime' : 'shutdown');
      await idle;
    },
    get running(): number {
      return runs.size;
    },
    heartbeat,
    stalls,
  };
  return runner;
}
