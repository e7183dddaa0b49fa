import type { Answer, Commit, Committed, TaskStore } from '@batonjs/store';
import { headAt } from '../../../test/kit/task-logs.ts';

type Fact = Commit['facts'][number];

const at = '2026-01-01T00:00:00.000Z';
const written = { format: 1, at } as const;

export const received: Fact = {
  ...written,
  type: 'message-received',
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
};

export const chunk = (number: number, text = 'x'.repeat(48)): Fact => ({
  ...written,
  type: 'artifact-updated',
  artifact: { artifactId: 'a', parts: [{ text: `${number} ${text}` }] },
  append: number > 1,
  lastChunk: false,
});

let commits = 0;

/** The commit that adds these facts to a log of this length. */
export function commitOf(
  taskId: string,
  expectedVersion: number,
  facts: readonly Fact[],
  more: Partial<Commit> = {},
): Commit {
  const head = headAt(expectedVersion + facts.length);
  return { scope: 's', taskId, commitId: `commit ${++commits}`, expectedVersion, facts, head, ...more };
}

/** Starts a log with one fact. */
export const create = (store: TaskStore, taskId: string, more: Partial<Commit> = {}): Answer<Committed> =>
  store.commit(commitOf(taskId, 0, [received], more));

/** Adds the fact that ends a log of this length, at this time. */
export const complete = (
  store: TaskStore,
  taskId: string,
  version: number,
  statusAt = at,
): Answer<Committed> => {
  const head = headAt(version + 1, {
    state: 'TASK_STATE_COMPLETED',
    closed: true,
    statusAt,
    statusVersion: version + 1,
  });
  const status = { state: 'TASK_STATE_COMPLETED', timestamp: statusAt } as const;
  return store.commit(commitOf(taskId, version, [{ ...written, type: 'status-changed', status }], { head }));
};
