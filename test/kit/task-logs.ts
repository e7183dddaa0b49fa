import { type Answer, type Commit, StoreError, type TaskStore } from '@batonjs/store';

type Fact = Commit['facts'][number];
type Head = NonNullable<Commit['head']>;

const at = '2026-01-01T00:00:00.000Z';

export const chunk = (n: number): Fact => ({
  format: 1,
  at,
  type: 'artifact-updated',
  artifact: { artifactId: 'numbers', parts: [{ data: { chunk: n } }] },
  append: n > 1,
  lastChunk: false,
});

export const headAt = (version: number, more: Partial<Head> = {}): Head => ({
  closed: false,
  state: 'TASK_STATE_WORKING',
  contextId: 'c',
  version,
  statusAt: at,
  statusVersion: 1,
  generation: version,
  turn: 1,
  attempt: 1,
  ...more,
});

/** The commit that adds one chunk after a position. */
export const chunkAfter = (version: number, more: Partial<Commit> = {}): Commit => ({
  scope: 's',
  taskId: 't',
  commitId: `commit ${version + 1}`,
  expectedVersion: version,
  facts: [chunk(version + 1)],
  head: headAt(version + 1),
  ...more,
});

/**
 * Commits as a server does: after an error that leaves it open what happened, the same commit again until the log shows
 * it. Returns how often it had to ask.
 */
export async function persist(store: TaskStore, commit: Commit): Promise<number> {
  for (let asked = 0; ; asked++) {
    const error = await Promise.resolve(store.commit(commit)).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!error) return asked;
    if (!StoreError.is(error, 'UNAVAILABLE') && !StoreError.is(error, 'VERSION_CONFLICT')) throw error;
    const { scope, taskId, expectedVersion, commitId } = commit;
    const next = await store.readFacts(scope, taskId, Number(expectedVersion), 1).catch(() => []);
    if (next[0]?.commitId === commitId) return asked + 1;
    if (next[0]) throw error;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Asks until it no longer rejects. */
export async function untilItWorks<T>(ask: () => Answer<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!StoreError.is(error, 'UNAVAILABLE')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
