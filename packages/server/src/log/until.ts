import type { Fact } from '@batonjs/lifecycle';
import type { StoredFact } from '@batonjs/store';
import { deadlinesOf } from '../timing/deadline-timers.ts';
import { catchUp } from './catch-up.ts';
import type { LiveTask } from './live-task.ts';

/**
 * Resolves once `isIt` holds for a fact after a position, after so many milliseconds (one of few values), when aborted, or
 * when the server closes. Rejects with `LOG_DIVERGED` if the store lost facts of the task. Is told of facts like one that follows, without the promises that following costs for each.
 */
export function until(
  live: LiveTask,
  after: number,
  isIt: (fact: Fact) => unknown,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let lastCommitId: string | undefined;
    let state: 'looking' | 'reading' | 'over' = 'looking';
    const stop = () => {
      state = 'over';
      signal.removeEventListener('abort', end);
      stopListening();
      deadlines.remove(deadline);
    };
    const end = () => {
      stop();
      resolve();
    };
    const take = (facts: readonly StoredFact[]) => {
      for (const { version, commitId, fact } of facts) {
        after = version;
        lastCommitId = commitId;
        if (isIt(fact)) return end();
      }
    };
    const fail = (error: unknown) => {
      stop();
      reject(error);
    };
    const read = async () => {
      state = 'reading';
      try {
        const facts = await catchUp(live, after, lastCommitId, signal, false);
        if (state !== 'reading') return;
        state = 'looking';
        take(facts);
        look();
      } catch (error) {
        fail(error);
      }
    };
    const look = () => {
      if (state === 'over') return;
      if (signal.aborted || live.ended) return end();
      if (live.isDiverged) return fail(live.trouble);
      while (state === 'looking' && after < live.version) {
        const facts = live.recentAfter(after);
        if (facts) take(facts);
        else void read();
      }
    };
    const stopListening = live.onChange(look);
    const deadlines = deadlinesOf(ms, live.settings.clock);
    const deadline = deadlines.add(end);
    signal.addEventListener('abort', end);
    look();
  });
}
