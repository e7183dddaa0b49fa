import type { Answer, Scope } from '@batonjs/store';
import type { LogDependencies } from './log-dependencies.ts';

/** The members of a live task that the report needs. */
interface Lossy {
  readonly scope: Scope;
  readonly taskId: string;
  readonly dependencies: LogDependencies;
  readonly version: number;
  readonly state: { readonly closed: boolean };
  unsubscribe(): Answer<void>;
}

/**
 * Unsubscribes from a task of which the store lost facts, and logs the loss. A closed log that was pruned is no loss.
 * Never rejects.
 */
export async function reportLostFacts(live: Lossy): Promise<void> {
  const { scope, taskId, dependencies, version, state } = live;
  const { store, logger } = dependencies;
  try {
    await live.unsubscribe();
    const stored = await store.load(scope, taskId);
    if (!stored && state.closed) return;
    const details = { taskId, knownVersion: version, storedVersion: stored?.version ?? 0 };
    logger('error', 'The store lost facts of a task', details);
  } catch (error) {
    logger('error', 'The store lost facts of a task', { taskId, knownVersion: version, error });
  }
}
