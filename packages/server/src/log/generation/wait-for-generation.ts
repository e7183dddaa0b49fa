import type { Scope } from '@batonjs/store';
import type { LiveTasks } from '../live-tasks.ts';
import { waitForFact } from '../wait-for-fact.ts';

interface Waiting {
  readonly tasks: Pick<LiveTasks, 'open' | 'release'>;
  readonly options: {
    readonly timeouts: { readonly generationMs: number };
    readonly limits: { readonly followersPerTask: number };
  };
}

/**
 * Resolves when a task is beyond a generation or ended, after `timeouts.generationMs`, when the caller left, and when the
 * server closes. At once for a task that does not exist. Rejects with `RESOURCE_EXHAUSTED` if too many follow the task.
 */
export async function waitForGeneration(
  taskId: string,
  generation: number,
  { scope, signal }: { readonly scope: Scope; readonly signal: AbortSignal },
  { tasks, options: { timeouts, limits } }: Waiting,
): Promise<void> {
  const live = await tasks.open(scope, taskId);
  if (!live) return;
  const isOver = () => live.state.generation > generation || live.state.closed;
  try {
    if (!live.state.task || isOver()) return;
    live.enter(limits.followersPerTask);
    try {
      await live.subscribe();
      if (!isOver())
        await waitForFact(live, isOver, { after: live.version, ms: timeouts.generationMs, signal });
    } finally {
      live.leave();
    }
  } finally {
    tasks.release(live);
  }
}
