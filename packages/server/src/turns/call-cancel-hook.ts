import type { ChildUpdate } from '@batonjs/lifecycle';
import type { Turn } from '../agent/agent.ts';
import type { TurnDependencies } from './turn-dependencies.ts';

/**
 * Calls the hook of users before a task ends that no agent works on, and waits for it for at most `timeouts.cancelGraceMs`. Resolves to
 * the children that it knows something new about. Never rejects.
 */
export async function callCancelHook(
  turn: Turn,
  { onCancel, clock, logger, options: { timeouts } }: TurnDependencies,
  over: AbortSignal,
): Promise<readonly ChildUpdate[]> {
  if (!onCancel) return [];
  const called = new Promise<unknown>((resolve) => resolve(onCancel(turn))).catch((error) =>
    logger('error', 'The cancel hook failed', { taskId: turn.taskId, error }),
  );
  const children = await Promise.race([called, clock.sleep(timeouts.cancelGraceMs, over)]);
  return Array.isArray(children) ? children : [];
}
