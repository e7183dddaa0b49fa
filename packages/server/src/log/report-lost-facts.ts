import type { LiveTask } from './live-task.ts';

/**
 * Unsubscribes from a task of which the store lost facts, and logs the loss. A closed log that was pruned is no loss.
 * Never rejects.
 */
export async function reportLostFacts(live: LiveTask): Promise<void> {
  const { scope, taskId, settings, version, state } = live;
  const { store, log } = settings;
  try {
    await live.unsubscribe();
    const stored = await store.load(scope, taskId);
    if (!stored && state.closed) return;
    const details = { taskId, knownVersion: version, storedVersion: stored?.version ?? 0 };
    log('error', 'The store lost facts of a task', details);
  } catch (error) {
    log('error', 'The store lost facts of a task', { taskId, knownVersion: version, error });
  }
}
