import type { OpenedCallback } from './agent/callback.ts';
import { keepWatched } from './base/hooks/request-watch.ts';
import type { Readiness } from './base/store/versions.ts';
import { work } from './base/timing/hold-process.ts';
import type { AnswerLinkOptions } from './operations/callbacks/open-answer-link.ts';
import type { WorkerOptions } from './options.ts';
import { createRuntime } from './runtime.ts';

export type { WorkerOptions } from './options.ts';

/** A process that claims tasks, runs their turns and delivers to webhooks, but answers no requests. */
export interface Worker {
  /** How many turns run here now. */
  readonly running: number;
  /** Whether it claims turns and its store takes writes, which is tried at most once a second. */
  ready(): Promise<boolean>;
  /** Like `ready`, with the reason if it is not. */
  readiness(): Promise<Readiness>;
  /** As `answerLink` of a server. */
  answerLink(taskId: string, options: AnswerLinkOptions): Promise<OpenedCallback>;
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
  // A worker has no socket of its own.
  if (work.count++ === 0) work.hold();
  void runtime.start();
  const { readiness, dependencies, tasks } = runtime;
  let isOpen = true;
  const worker: Worker = {
    get running() {
      return runtime.runner.running;
    },
    ready: async () => (await readiness()).isReady,
    readiness,
    async answerLink(taskId, link) {
      // A worker that makes no links loads no operation.
      const { openAnswerLink } = await import('./operations/callbacks/open-answer-link.ts');
      return openAnswerLink(taskId, link, { ...dependencies, tasks, isOpen: () => isOpen });
    },
    async close({ graceMs = 10_000 } = {}) {
      const isFirst = isOpen;
      isOpen = false;
      try {
        await runtime.close(graceMs);
      } finally {
        if (isFirst && --work.count === 0) work.letGo();
      }
    },
  };
  return keepWatched(worker, options.telemetry);
}
