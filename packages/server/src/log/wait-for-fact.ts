import type { Fact } from '@batonjs/lifecycle';
import { deadlinesOf } from '../base/timing/deadline-timers.ts';
import { Cursor } from './cursor.ts';
import type { LiveTask } from './live-task.ts';

export interface WaitOptions {
  /** Only facts after this version count. */
  readonly after: number;
  /** The longest wait in milliseconds: one of few values. Default: no limit. */
  readonly ms?: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/**
 * Resolves when `matches` is true of a fact, when the time is over, when aborted, or when the server closes. An outage
 * of the store does not end the wait. Rejects with `LOG_DELETED` if the task was deleted, with `LOG_DIVERGED` if the store
 * lost facts of it, and with `LOG_GAP` if it does not keep those that follow.
 */
export function waitForFact(
  live: LiveTask,
  matches: (fact: Fact) => unknown,
  { after, ms, signal }: WaitOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: unknown) => {
      cursor.close();
      if (deadline) deadlines?.remove(deadline);
      if (error === undefined) resolve();
      else reject(error);
    };
    const cursor = new Cursor(live, { version: after }, signal, {
      outlastsOutages: true,
      take(facts) {
        for (const { fact } of facts) if (matches(fact)) return end();
        cursor.read();
      },
      end,
    });
    const deadlines = ms === undefined ? undefined : deadlinesOf(ms, live.dependencies.clock);
    const deadline = deadlines?.add({ expire: end });
    cursor.read();
  });
}

/** Resolves at the next fact, when aborted, or when the server closes. Rejects like `waitForFact`. */
export const nextFact = (live: LiveTask, signal: AbortSignal): Promise<void> =>
  waitForFact(live, () => true, { after: live.version, signal });
