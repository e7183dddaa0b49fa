import { fromSnapshot, replay, type State } from '@batonjs/lifecycle';
import { type StoredFact, type StoredLog, StoreError } from './port/commit.ts';
import type { Scope } from './port/lease.ts';
import type { TaskStore } from './port/task-store.ts';

/** The present state of a task, or undefined if it does not exist. Throws `UnknownFactError` for a log of a newer release. */
export async function loadTask(
  store: Pick<TaskStore, 'load'>,
  scope: Scope,
  taskId: string,
): Promise<State | undefined> {
  const log = await store.load(scope, taskId);
  return log && foldLog(log);
}

/** The state that a loaded log folds to. Throws like `mustBeWhole`. */
export function foldLog(log: StoredLog): State | undefined {
  mustBeWhole(log);
  const { snapshot, facts } = log;
  return replay(
    facts.map(({ fact }) => fact),
    snapshot && fromSnapshot(snapshot),
  );
}

/** Throws a `StoreError` of code `UNREADABLE` for a log that lacks a fact: it is damaged. */
export function mustBeWhole({ version, snapshot, facts }: StoredLog): void {
  const first = snapshot?.version ?? 0;
  mustFollow(facts, first);
  if (first + facts.length < version) throw missing(first + facts.length + 1);
}

/** Throws a `StoreError` of code `UNREADABLE` unless the facts follow each other and the position `after`. */
export function mustFollow(facts: readonly StoredFact[], after: number): void {
  let next = after;
  for (const { version } of facts) if (version !== ++next) throw missing(next);
}

const missing = (version: number) =>
  new StoreError('UNREADABLE', `The log is damaged: the fact at ${version} is missing`);
