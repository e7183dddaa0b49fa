import type { TaskName } from '@batonjs/store';
import { newId } from '../../base/system/new-id.ts';
import type { LiveTask } from '../../log/live-task.ts';
import type { LiveTasks } from '../../log/live-tasks.ts';
import { deadlineOf } from '../order/task-deadlines.ts';
import type { Runner } from '../runner.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';

/** How often they are looked at, in milliseconds. */
const everyMs = 5_000;

/**
 * Ends tasks whose time is over while their turn waits for a version that no process runs: no code of the agent goes on,
 * so any version may do it.
 */
export class OverdueElsewhere {
  readonly #dependencies: TurnDependencies;
  readonly #tasks: LiveTasks;
  readonly #runner: Runner;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(dependencies: TurnDependencies, tasks: LiveTasks, runner: Runner) {
    this.#dependencies = dependencies;
    this.#tasks = tasks;
    this.#runner = runner;
  }

  async look(): Promise<void> {
    const { versions, clock } = this.#dependencies;
    const now = clock.monotonic();
    if (!versions || now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    for (const { tasks } of await versions.elsewhere()) for (const task of tasks) await this.#end(task);
  }

  async #end({ scope, taskId }: TaskName): Promise<void> {
    const live = await this.#tasks.open(scope, taskId);
    if (!live) return;
    let isStarted = false;
    try {
      if (!this.#isOver(live)) return;
      const { store, clock, options } = this.#dependencies;
      const since = clock.monotonic();
      const task = { scope, taskId };
      const about = { queue: options.queue, holder: newId(clock), ttlMs: options.leaseMs, limit: 1 };
      const [lease] = await store.claim({ ...about, task, anyVersion: true });
      if (!lease) return;
      await live.refresh();
      isStarted = this.#isOver(live);
      if (isStarted) this.#runner.start(live, lease, { since });
      // A process of its version went on with it meanwhile.
      else await store.renew([lease], 1);
    } finally {
      if (!isStarted) this.#tasks.release(live);
    }
  }

  #isOver({ state }: LiveTask): boolean {
    const { clock, options } = this.#dependencies;
    const deadline = deadlineOf(state, options.clocks);
    return !state.closed && deadline !== undefined && deadline <= clock.now();
  }
}
