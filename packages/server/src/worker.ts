import { Claimer } from './claimer.ts';
import { completeSettings } from './complete-settings.ts';
import { LiveTasks } from './live-tasks.ts';
import type { WorkerOptions } from './options.ts';
import { Runner } from './runner.ts';

/** A process that only claims tasks and runs their turns. */
export interface Worker {
  /** How many turns run here now. */
  readonly running: number;
  /**
   * Claims nothing more, waits up to `graceMs` milliseconds (default 10,000) for the running turns, and ends the rest:
   * FAILED under `restart: 'fail'`, handed back under `'rerun'`.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/** Starts to work for servers that leave their turns to workers, or that died. */
export function createWorker(options: WorkerOptions): Worker {
  const settings = completeSettings(options, 'here');
  const tasks = new LiveTasks(settings);
  const runner = new Runner(settings, tasks);
  const claimer = new Claimer(settings, tasks, runner);
  claimer.start();
  return {
    get running() {
      return runner.running;
    },
    async close({ graceMs = 10_000 } = {}) {
      await claimer.close();
      await runner.drain(graceMs);
      tasks.close();
    },
  };
}
