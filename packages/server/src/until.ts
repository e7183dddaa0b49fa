import type { Fact } from '@batonjs/lifecycle';
import { deadlinesOf } from './deadlines.ts';
import { catchUp } from './follow-task.ts';
import type { LiveTask } from './live-task.ts';

/**
 * Resolves once `isIt` holds for a fact after a position, after so many milliseconds (one of few values), when aborted, or
 * when the server closes. Is told of facts like one that follows, without the promises that following costs for each.
 */
export async function until(
  live: LiveTask,
  after: number,
  isIt: (fact: Fact) => unknown,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  let over = false;
  let wake: () => void = () => {};
  const end = () => {
    over = true;
    wake();
  };
  const deadlines = deadlinesOf(ms, live.settings.clock);
  const deadline = deadlines.add(end);
  const stopListening = live.onChange(() => wake());
  signal.addEventListener('abort', end);
  try {
    while (!over && !signal.aborted && !live.ended) {
      if (after >= live.version) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      for (const stored of live.recentAfter(after) ?? (await catchUp(live, after, signal, false))) {
        after = stored.version;
        if (isIt(stored.fact)) return;
      }
    }
  } finally {
    signal.removeEventListener('abort', end);
    stopListening();
    deadlines.remove(deadline);
  }
}
