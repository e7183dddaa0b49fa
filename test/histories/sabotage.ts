import type { Head } from '@batonjs/lifecycle';
import { type Commit, type Committed, StoreError, type TaskStore } from '@batonjs/store';
import { override } from '../../packages/store-conformance/src/fixture/expectations.ts';

/**
 * A protection that is taken out: the check of the writer (`fence`), of the version (`cas`), the kept commit ids
 * (`commit-id`), the notifications (`notification`).
 */
export type Sabotage = 'fence' | 'cas' | 'commit-id' | 'notification';

/** The store without one of its protections. Only for proving that a test notices its absence. */
export function sabotage<S extends TaskStore>(store: S, what: Sabotage): S {
  let commits = 0;
  const methods = {
    fence: { commit: (commit: Commit) => store.commit({ ...commit, writer: undefined }) },
    cas: { commit: (commit: Commit) => commitAnywhere(store, commit) },
    'commit-id': {
      commit: (commit: Commit) => store.commit({ ...commit, commitId: `${commit.commitId} ${++commits}` }),
    },
    notification: { subscribe: async () => () => {} },
  }[what];
  return override(store, methods as Partial<S>);
}

/** Commits facts that were decided on an older log as if they had been decided on the present one. */
async function commitAnywhere(store: TaskStore, commit: Commit): Promise<Committed> {
  try {
    return await store.commit(commit);
  } catch (error) {
    if (!StoreError.is(error, 'VERSION_CONFLICT') || commit.expectedVersion === 'open') throw error;
    const expected = commit.expectedVersion;
    const expectedVersion = (await store.load(commit.scope, commit.taskId))?.version ?? 0;
    const head = commit.head && moved(commit.head, expected, expectedVersion - expected);
    return commitAnywhere(store, { ...commit, expectedVersion, head });
  }
}

const moved = (head: Head, after: number, by: number): Head => ({
  ...head,
  version: head.version + by,
  statusVersion: head.statusVersion > after ? head.statusVersion + by : head.statusVersion,
});
