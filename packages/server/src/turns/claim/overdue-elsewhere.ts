import type { TaskName } from '@batonjs/store';
import type { LiveTasks } from '../../log/live-tasks.ts';
import { deadlineOf } from '../order/task-deadlines.ts';
import type { TurnDependencies } from '../turn-dependencies.ts';

/** How often they are looked at, in milliseconds. */
const everyMs = 5_000;

/**
 * Ends tasks whose whole time is over while their turn waits for a version that no process runs: no code of the agent goes
 * on, so any version may do it. That time begins once and never moves: one that is over stays over.
 */
export class OverdueElsewhere {
  readonly #dependencies: TurnDependencies;
  readonly #tasks: LiveTasks;
  readonly #taskMs: number;
  readonly #end: (task: TaskName) => Promise<void>;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** `end`: claims a task and ends it, unless another process has it. */
  constructor(
    dependencies: TurnDependencies,
    tasks: LiveTasks,
    taskMs: number,
    end: (task: TaskName) => Promise<void>,
  ) {
    this.#dependencies = dependencies;
    this.#tasks = tasks;
    this.#taskMs = taskMs;
    this.#end = end;
  }

  async look(): Promise<void> {
    const { versions, clock } = this.#dependencies;
    const now = clock.monotonic();
    if (!versions || now - this.#lookedAt < everyMs) return;
    this.#lookedAt = now;
    for (const { tasks } of await versions.elsewhere())
      for (const task of tasks) if (await this.#isOver(task)) await this.#end(task);
  }

  async #isOver({ scope, taskId }: TaskName): Promise<boolean> {
    const live = await this.#tasks.open(scope, taskId);
    if (!live) return false;
    this.#tasks.release(live);
    const deadline = deadlineOf(live.state, { taskMs: this.#taskMs });
    return deadline !== undefined && deadline <= this.#dependencies.clock.now();
  }
}
