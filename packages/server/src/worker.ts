import { completeSettings } from './complete-options.ts';
import { LiveTasks } from './log/live-tasks.ts';
import type { WorkerOptions } from './options.ts';
import { Deliverer } from './push/deliverer.ts';
import { completePush } from './push/webhooks.ts';
import { Claimer } from './turns/claim/claimer.ts';
import { Runner } from './turns/runner.ts';

/** A process that only claims tasks, runs their turns, and serves webhooks. */
export interface Worker {
  /** How many turns run here now. */
  readonly running: number;
  /**
   * Claims nothing more, waits up to `graceMs` milliseconds (default 10,000) for the running turns, and ends the rest:
   * FAILED under `restart: 'fail'`, handed back under `'rerun'`.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Starts to work for servers that leave their turns to workers, or that died. Keeps its process alive until `close`. */
export function createWorker(options: WorkerOptions): Worker {
  const settings = completeSettings(options, 'here');
  const { clock } = settings;
  const tasks = new LiveTasks(settings);
  const runner = new Runner(settings, tasks);
  const claimer = new Claimer(settings, tasks, runner);
  const push = completePush(options.store, options.push, options.compatibility);
  const deliverer = push && new Deliverer({ ...settings, push });
  // A worker has no socket of its own: without this timer, a process that does nothing else would exit at once.
  const untilClosed = setInterval(() => {}, longestTimerMs);
  claimer.start();
  deliverer?.start();
  return {
    get running() {
      return runner.running;
    },
    async close({ graceMs = 10_000 } = {}) {
      try {
        await claimer.close();
        const deadline = clock.monotonic() + graceMs;
        await runner.drain(graceMs);
        await deliverer?.close(Math.max(0, deadline - clock.monotonic()));
        tasks.close();
      } finally {
        clearInterval(untilClosed);
      }
    },
  };
}

/** The longest time that a timer of JavaScript can be set to. */
const longestTimerMs = 2 ** 31 - 1;
