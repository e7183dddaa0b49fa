import type { Head, Snapshot } from '@batonjs/lifecycle';
import type { StoredFact, TaskStore } from '@batonjs/store';

/** A stored log, from its first fact. */
export interface KeptLog {
  readonly taskId: string;
  readonly head: Head;
  readonly snapshot?: Snapshot;
  readonly facts: readonly StoredFact[];
}

/** Reads a log from its first fact, or undefined if it does not exist. No process may write it meanwhile. */
export async function readLog(store: TaskStore, scope: string, taskId: string): Promise<KeptLog | undefined> {
  const log = await store.load(scope, taskId);
  if (!log) return undefined;
  const facts: StoredFact[] = [];
  for (;;) {
    const more = await store.readFacts(scope, taskId, facts.length, 500);
    if (more.length === 0) return { taskId, head: log.head, snapshot: log.snapshot, facts };
    facts.push(...more);
  }
}
