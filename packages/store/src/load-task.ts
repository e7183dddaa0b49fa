import { evolve, fromSnapshot, type State } from '@batonjs/lifecycle';
import type { Scope, StoredLog, TaskStore } from './task-store.ts';

/** The state of a task as it is now, or undefined. Throws `UnknownFactError` for a log of a newer release. */
export async function loadTask(store: TaskStore, scope: Scope, taskId: string): Promise<State | undefined> {
  const log = await store.load(scope, taskId);
  return log && foldLog(log);
}

/** Folds what `load` returned. */
export function foldLog({ snapshot, facts }: StoredLog): State | undefined {
  let state = snapshot && fromSnapshot(snapshot);
  for (const { fact } of facts) state = evolve(state, fact);
  return state;
}
