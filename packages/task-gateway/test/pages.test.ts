import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import { completed, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { decodeCursor, taskLogOf } from '../src/tasks/task-log.ts';
import { serveTasks } from './service.ts';

describe('pages of a history', () => {
  it.each([1, 2, 3, 4, 5])('of %i miss and repeat nothing, and the last one is the last', async (limit) => {
    const service = await serveTasks({
      types: {
        write: serve(async function* () {
          yield working('Reading');
          yield working('Writing');
          yield completed('Done');
        }),
      },
    });
    await service.post('/task', { taskId: 't', type: 'write', data: {} });
    await service.ended('t');
    const { transitions: all } = (await service.get('/task/t/history')).body;
    expect(all.length).toBeGreaterThanOrEqual(4);
    const found: unknown[] = [];
    let pages = 0;
    for (let next: number | undefined = 0; next !== undefined; pages += 1) {
      const { body } = await service.get(`/task/t/history?limit=${limit}&after=${next}`);
      found.push(...body.transitions);
      next = body.next;
    }
    expect(found).toEqual(all);
    expect(pages).toBe(Math.ceil(all.length / limit));
  });
});

describe('pages of a list', () => {
  const states: TaskState[] = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];
  const ids = ['e', 'a', 'd', 'f', 'b', 'c'];

  /** Tasks in progress, in several states of A2A, whose status is of one moment. */
  async function atOnce() {
    const store = memoryStore();
    const tasks = taskLogOf(store, 'gateway');
    const scope = tasks.scopeOf('ada');
    const at = new Date(Date.UTC(2026, 0, 1)).toISOString();
    for (const [n, taskId] of ids.entries()) {
      const common = { format: FACT_FORMAT, at } as const;
      const message = { messageId: taskId, contextId: 'work', role: 'ROLE_USER' as const, parts: [] };
      const state = states[n % states.length]!;
      const facts: Fact[] = [
        { ...common, type: 'message-received', message },
        { ...common, type: 'task-created', taskId, contextId: 'work' },
        { ...common, type: 'status-changed', status: { state, timestamp: at } },
      ];
      const commit = { scope, taskId, commitId: taskId, expectedVersion: 0, facts };
      await store.commit({ ...commit, head: facts.reduce<Head | undefined>(headOf, undefined)! });
    }
    return tasks;
  }

  it.each([1, 2, 3, 4, 5, 6])(
    'of %i miss and repeat no task whose status is of the same moment, and the last one is the last',
    async (limit) => {
      const tasks = await atOnce();
      const found: string[] = [];
      let pages = 0;
      for (let cursor: string | undefined = ''; cursor !== undefined; pages += 1) {
        const after = decodeCursor(cursor);
        const page = await tasks.list('ada', { status: 'in_progress', limit, ...(after && { after }) });
        found.push(...page.tasks.map(({ taskId }) => taskId));
        cursor = page.cursor;
      }
      expect(found).toEqual(ids.toSorted().reverse());
      expect(pages).toBe(Math.ceil(ids.length / limit));
    },
  );
});
