import type { Lease } from '@batonjs/store';
import { Heartbeat } from './heartbeat.ts';
import { LeasedTask } from './leased-task.ts';
import type { LiveTask } from './live-task.ts';
import type { LiveTasks } from './live-tasks.ts';
import type { RunSettings } from './settings.ts';
import { TaskRun } from './task-run.ts';

/** The turns that run in this process. */
export class Runner {
  readonly #settings: RunSettings;
  readonly #tasks: LiveTasks;
  readonly #heartbeat: Heartbeat;
  readonly #running = new Map<TaskRun, Promise<void>>();
  #onFree: () => void = () => {};

  constructor(settings: RunSettings, tasks: LiveTasks) {
    this.#settings = settings;
    this.#tasks = tasks;
    this.#heartbeat = new Heartbeat(settings);
  }

  /** How many more turns may run here now. */
  get free(): number {
    return this.#settings.limits.turns - this.#running.size;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Calls `listener` when a full runner has room again. */
  onFree(listener: () => void): void {
    this.#onFree = listener;
  }

  /**
   * Does what a leased task needs. Takes over the caller's use of `live`. `since`: the monotonic time before the lease
   * was asked for; `started`: the commit that took the lease started the turn too.
   */
  start(
    live: LiveTask,
    lease: Lease,
    { since, started = false }: { since: number; started?: boolean },
  ): void {
    const run = new TaskRun(new LeasedTask(live, lease, this.#settings), this.#settings);
    this.#heartbeat.add(lease, since, () => run.halt('fenced'));
    const full = this.free <= 1;
    const over = run.run(started).finally(() => {
      this.#heartbeat.remove(lease);
      this.#running.delete(run);
      this.#tasks.release(live);
      if (full) this.#onFree();
    });
    this.#running.set(run, over);
  }

  /** Waits for the running turns, at most so long; then ends them as `restart` says. */
  async drain(graceMs: number): Promise<void> {
    const done = new AbortController();
    const all = Promise.all(this.#running.values()).then(() => done.abort());
    await Promise.race([all, this.#settings.clock.sleep(graceMs, done.signal)]);
    for (const run of this.#running.keys()) run.halt('shutdown');
    await Promise.all(this.#running.values());
  }
}
