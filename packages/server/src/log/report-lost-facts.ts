import type { Head } from '@batonjs/lifecycle';
import { type Answer, type Scope, StoreError, type TaskStore } from '@batonjs/store';
import type { Logger, ReportFailure } from '../base/hooks/logger.ts';
import type { Timeouts } from '../base/timeouts.ts';
import type { Clock } from '../base/timing/clock.ts';

/** The objects and times that all live tasks of a process share. */
export interface LogDependencies {
  /** Answers within `timeouts.storeMs`. */
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly timeouts: Pick<Timeouts, 'storeMs' | 'sweepMs'>;
  readonly logger: Logger;
  /** How much longer than others a task is kept that ends with this head; undefined: no task is. */
  readonly keptLonger?: ((head: Head) => number | undefined) | undefined;
  /** Logs the errors of background work. */
  readonly report: ReportFailure;
}

/** The members of a live task that the report needs. */
interface Lossy {
  readonly scope: Scope;
  readonly taskId: string;
  readonly dependencies: LogDependencies;
  readonly version: number;
  readonly state: { readonly closed: boolean };
  readonly readError: unknown;
  unsubscribe(): Answer<void>;
}

/** Whether the store does not hold any more what a reader knows of a task: it was deleted, or lost. */
export const isGone = (error: unknown): boolean =>
  StoreError.is(error, 'LOG_DELETED') || StoreError.is(error, 'LOG_DIVERGED');

/**
 * Unsubscribes from a task of which the store lost facts, and logs the loss. A log that was deleted is no loss. Never rejects.
 */
export async function reportLostFacts(live: Lossy): Promise<void> {
  const { scope, taskId, dependencies, version, state, readError } = live;
  const { store, logger } = dependencies;
  try {
    await live.unsubscribe();
    if (StoreError.is(readError, 'LOG_DELETED')) return;
    const stored = await store.load(scope, taskId);
    if (!stored && state.closed) return;
    const details = { taskId, knownVersion: version, storedVersion: stored?.version ?? 0 };
    logger('error', 'The store lost facts of a task', details);
  } catch (error) {
    logger('error', 'The store lost facts of a task', { taskId, knownVersion: version, error });
  }
}

/** The `commitId` of the fact at a position, read from the store; undefined if there is none or it was pruned. */
export async function commitIdAt(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  version: number,
): Promise<string | undefined> {
  try {
    const [stored] = await store.readFacts(scope, taskId, version - 1, 1);
    return stored?.commitId;
  } catch (error) {
    if (StoreError.is(error, 'LOG_GAP')) return undefined;
    throw error;
  }
}
