import { mustBePositive, turnDependencies } from './dependencies.ts';
import { LiveTasks } from './log/live-tasks.ts';
import type { WorkerOptions } from './options.ts';
import { Deliverer } from './push/deliverer.ts';
import { createWebhooks, type Webhooks } from './push/webhooks.ts';
import { Retention, type RetentionOptions } from './store/retention.ts';
import { Claimer } from './turns/claim/claimer.ts';
import { Runner } from './turns/runner.ts';
import type { TurnDependencies } from './turns/turn-dependencies.ts';

/** The common part of a server and a worker: live tasks, turns and deliveries to webhooks, not started yet. */
export interface Runtime {
  readonly dependencies: TurnDependencies;
  readonly tasks: LiveTasks;
  readonly runner: Runner;
  readonly claimer: Claimer;
  /** Undefined if nothing is delivered to webhooks. */
  readonly push: Webhooks | undefined;
  /** Claims tasks, unless `run` is `workers`, and deliveries. */
  start(): void;
  /**
   * Claims nothing more, gives running turns and deliveries up to `graceMs` milliseconds, ends the other turns as
   * `restart` says, and ends all streams.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Makes the runtime of a server, or of a worker if `run` is undefined. Throws `TypeError` for options that cannot work.
 */
export function createRuntime(options: WorkerOptions, run?: 'here' | 'workers'): Runtime {
  const dependencies = turnDependencies(options, run);
  const { store, clock, log, report } = dependencies;
  const { storeTimeoutMs } = dependencies.options;
  const { sweepEveryMs = 1_000 } = options;
  mustBePositive({ sweepEveryMs });
  const retention = options.retention && createRetention(options.retention, dependencies);
  const tasks = new LiveTasks({ store, clock, log, report, storeTimeoutMs, sweepEveryMs });
  const runner = new Runner(dependencies, tasks);
  const claimer = new Claimer(dependencies, tasks, runner);
  const push = createWebhooks(store, options.push, options.compatibility);
  const deliverer = push && new Deliverer({ ...dependencies, push });
  return {
    dependencies,
    tasks,
    runner,
    claimer,
    push,
    start() {
      tasks.start();
      if (run !== 'workers') claimer.start();
      deliverer?.start();
      retention?.start();
    },
    async close(graceMs) {
      await Promise.all([claimer.close(), retention?.close()]);
      const deadline = clock.monotonic() + graceMs;
      await runner.drain(graceMs);
      // Only now: streams and waits on a turn that was given time to finish get its last event.
      tasks.close();
      await deliverer?.close(Math.max(0, deadline - clock.monotonic()));
    },
  };
}

/** Throws `TypeError` for values that cannot work. */
function createRetention(options: RetentionOptions, dependencies: TurnDependencies): Retention {
  const { closedAfterMs, everyMs = 1, batch = 1 } = options;
  mustBePositive({
    'retention.closedAfterMs': closedAfterMs,
    'retention.everyMs': everyMs,
    'retention.batch': batch,
  });
  return new Retention(dependencies, options);
}
