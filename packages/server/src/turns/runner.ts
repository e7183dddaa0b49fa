import type { Lease, TaskName } from '@batonjs/store';
import { LinkedList } from '../base/linked-list.ts';
import { work } from '../base/timing/hold-process.ts';
import { roundLimit } from '../base/timing/round-limit.ts';
import type { LiveTask } from '../log/live-task.ts';
import type { LiveTasks } from '../log/live-tasks.ts';
import { type Heartbeat, heartbeatOf, type StallWatch, stallWatch } from './heartbeat.ts';
import { TaskRun } from './task-run.ts';
import { TaskWriter, type TurnProcess } from './task-writer.ts';
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

interface StartOptions extends Begin {
  readonly since: number;
  readonly isAlone?: boolean;
  readonly requestId?: string | undefined;
}

/** The turns that run in this process. */
export class Runner implements TurnProcess {
  readonly #dependencies: TurnDependencies;
  readonly #tasks: LiveTasks;
  readonly heartbeat: Heartbeat;
  readonly stalls: StallWatch;
  readonly #running = new LinkedList<Running>();
  readonly #enterRound = roundLimit(startsPerRound);
  #reserved = 0;
  #refused = false;
  #isDraining = false;
  #isClosed = false;
  #becomeIdle: () => void = () => {};
  readonly #idle = new Promise<void>((resolve) => {
    this.#becomeIdle = resolve;
  });
  #onFree: () => void = () => {};
  #onPause: (task: TaskName, until: number) => void = () => {};

  constructor(dependencies: TurnDependencies, tasks: LiveTasks) {
    this.#dependencies = dependencies;
    this.#tasks = tasks;
    this.heartbeat = heartbeatOf(dependencies);
    this.stalls = stallWatch(dependencies);
  }

  /**
   * Reserves a place for each of at most `most` turns, or for as many as may still start: none once the process is
   * drained. To be called before the store is asked: concurrent claims would otherwise all use the same places.
   */
  reserve(most: number): Reserved {
    const turns = this.#isClosed ? 0 : Math.max(0, Math.min(most, this.#free));
    this.#reserved += turns;
    if (turns === 0 && most > 0) this.#refused = true;
    return { turns, release: () => this.#leave(() => (this.#reserved -= turns)) };
  }

  get #free(): number {
    return this.#dependencies.options.limits.turns - this.#running.size - this.#reserved;
  }

  /** Ends the drain if no turn runs, and no place is reserved. */
  #endIfIdle(): void {
    if (!this.#isDraining || this.#running.size > 0 || this.#reserved > 0) return;
    // At once: a request could otherwise reserve a place before the drain goes on.
    this.#isClosed = true;
    this.#becomeIdle();
  }

  #leave(leave: () => unknown): void {
    leave();
    this.#endIfIdle();
    if (!this.#refused || this.#free <= 0) return;
    this.#refused = false;
    this.#onFree();
  }

  get running(): number {
    return this.#running.size;
  }

  /** Calls `listener` when a place is free after a reservation got none; with a schedule or limit, when a turn ends. */
  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /** Calls `listener` when a turn was paused here, with the time at which it goes on: milliseconds since 1970. */
  onPause(listener: (task: TaskName, until: number) => void): void {
    this.#onPause = listener;
  }

  /**
   * Starts the run of a leased task. Takes over the caller's use of `live`. `since`: the monotonic time before the lease
   * was asked for; `isAlone`: the turn is tried before others are; `requestId`: of the request that it starts with.
   */
  start(
    live: LiveTask,
    lease: Lease,
    { since, isAlone = false, requestId, ...begin }: StartOptions,
  ): Running {
    const { limit, options } = this.#dependencies;
    const { schedule } = options;
    if (limit) limit.turns++;
    const task = new TaskWriter(live, lease, since, this.#dependencies, this);
    const run = new TaskRun(task, this.#dependencies, isAlone || this.#running.size === 0, requestId);
    const kept = this.heartbeat.add(task);
    this.stalls.turnStarts();
    const running: Running = { run, over: Promise.resolve() };
    const node = this.#running.add(running);
    if (work.count++ === 0) work.hold();
    // The lease was asked for before the process was drained.
    if (this.#isClosed) run.halt('shutdown');
    const later = this.#enterRound();
    const ended = later ? later.then(() => run.run(begin)) : run.run(begin);
    running.over = ended.then(() => {
      if (--work.count === 0) work.letGo();
      this.heartbeat.remove(kept);
      this.stalls.turnEnds();
      this.#tasks.release(live);
      this.#leave(() => this.#running.remove(node));
      if (schedule || limit) this.#onFree();
      if (run.pausedUntil !== undefined) this.#onPause(live, run.pausedUntil);
    });
    return running;
  }

  /**
   * Waits for the turns that run, and for those that are about to start, for at most `graceMs` milliseconds; then ends
   * them as `restart` says. No turn runs after that: one whose lease arrives later is ended before its agent is called.
   */
  async drain(graceMs: number): Promise<void> {
    const done = new AbortController();
    this.#isDraining = true;
    this.#endIfIdle();
    void this.#idle.then(() => done.abort());
    await Promise.race([this.#idle, this.#dependencies.clock.sleep(graceMs, done.signal)]);
    this.#isClosed = true;
    for (const { run } of this.#running) run.halt(this.#dependencies.limit ? 'overtime' : 'shutdown');
    await this.#idle;
  }
}
