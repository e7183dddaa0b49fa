import { type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { Commit, TaskStore } from '../src/index.ts';

const written = { format: 1, at: '2026-01-01T00:00:00.000Z' } as const;

const beginning: readonly Fact[] = [
  {
    ...written,
    type: 'message-received',
    message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
  },
  { ...written, type: 'task-created', taskId: 't', contextId: 'c' },
];

let commits = 0;

/** Starts the log of task `t` in scope `s`: two facts. */
export const create = (store: TaskStore, more: Partial<Commit> = {}) =>
  store.commit({
    scope: 's',
    taskId: 't',
    commitId: `c${++commits}`,
    expectedVersion: 0,
    facts: beginning,
    head: beginning.reduce<Head | undefined>(headOf, undefined),
    ...more,
  });

/** Appends so many facts to it. */
export const append = (store: TaskStore, count: number) =>
  store.commit({
    scope: 's',
    taskId: 't',
    commitId: `c${++commits}`,
    expectedVersion: 'open',
    facts: Array.from({ length: count }, (): Fact => ({ ...written, type: 'woken' })),
    once: `o${commits}`,
  });
