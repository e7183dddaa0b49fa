import type { WorkerOptions } from './options.ts';
import { createRuntime } from './runtime.ts';

export type { WorkerOptions } from './options.ts';

/** A process that claims tasks, runs their turns and delivers to webhooks, but answers no requests. */
export interface Worker {
  /** How many turns run here now. */
  readonly running: number;
  /**
   * Claims nothing more, waits up to `graceMs` milliseconds (default 10,000) for the running turns, and ends the rest:
   * FAILED under `restart: 'fail'`, handed back under `'rerun'`.
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Starts a worker for servers that leave their turns to workers, or that died. Keeps its process alive until `close`.
 * Throws `TypeError` for options that cannot work.
 */
export function createWorker(options: WorkerOptions): Worker {
  const runtime = createRuntime(options);
  // A worker has no socket of its own: without this timer, a process that does nothing else would exit at once.
  const untilClosed = setInterval(() => {}, longestTimerMs);
  runtime.start();
  return {
    get running() {
      return runtime.runner.running;
    },
    async close({ graceMs = 10_000 } = {}) {
      try {
        await runtime.close(graceMs);
      } finally {
        clearInterval(untilClosed);
      }
    },
  };
}

/** The longest time that a timer of JavaScript can be set to. */
const longestTimerMs = 2 ** 31 - 1;
