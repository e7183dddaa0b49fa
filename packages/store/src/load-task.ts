import { evolve, fromSnapshot, type State } from '@batonjs/lifecycle';
import type { Scope, StoredLog, TaskStore } from './task-store.ts';

/**
 * The present state of a task, or undefined if it does not exist. Throws `UnknownFactError` for a log of a newer
 * release.
 */
export async function loadTask(store: TaskStore, scope: Scope, taskId: string): Promise<State | undefined> {
  const log = await store.load(scope, taskId);
  return log && foldLog(log);
}

/** The state that a loaded log folds to, or undefined if it never became a task. */
export function foldLog({ snapshot, facts }: StoredLog): State | undefined {
  let state = snapshot && fromSnapshot(snapshot);
  for (const { fact } of facts) state = evolve(state, fact);
  return state;
}
