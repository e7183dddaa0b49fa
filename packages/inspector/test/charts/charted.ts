import { FACT_FORMAT, type Fact, type Head, headOf } from '@batonjs/lifecycle';
import type { Message, TaskState } from '@batonjs/protocol';
import { scopeOf } from '@batonjs/server/internals';
import type { TaskQuery, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { onTestFinished } from 'vitest';
import { inspected } from '../../src/agents/inspected.ts';
import { StoreCharts } from '../../src/charts/store-charts.ts';

/** A store whose tasks are written at chosen times, the charts of it, and what the charts read. */
export function charted(
  store: TaskStore = memoryStore({ closedBytes: Number.POSITIVE_INFINITY }),
  start = Date.parse('2026-07-15T12:30:30.000Z'),
) {
  let now = start;
  const read = { pages: 0, rows: 0, logs: 0 };
  let refusal: Error | undefined;
  const watched: TaskStore = Object.assign(Object.create(store) as TaskStore, {
    async list(...given: [string, TaskQuery]) {
      if (refusal) throw refusal;
      const page = await store.list(...given);
      read.pages += 1;
      read.rows += page.tasks.length;
      return page;
    },
    readFacts(...given: Parameters<TaskStore['readFacts']>) {
      read.logs += 1;
      return store.readFacts(...given);
    },
  });
  const charts = new StoreCharts(inspected({ name: 'many', store: watched }, () => false).store!, () => now);
  onTestFinished(() => charts.close());
  const heads = new Map<string, Head>();
  const commit = async (taskId: string, ...facts: readonly Fact[]) => {
    const before = heads.get(taskId);
    const head = facts.reduce<Head | undefined>(headOf, before)!;
    heads.set(taskId, head);
    const expectedVersion = before?.version ?? 0;
    const turn = { queue: 'many' };
    const scope = scopeOf('many', undefined, undefined);
    await store.commit({ scope, taskId, commitId: crypto.randomUUID(), expectedVersion, facts, head, turn });
  };
  const written = (ago: number) => ({ format: FACT_FORMAT, at: new Date(now - ago).toISOString() }) as const;
  const change = (taskId: string, state: TaskState, ago = 0) =>
    commit(taskId, { ...written(ago), type: 'status-changed', status: { state } });
  return {
    charts,
    read,
    change,
    refuse(error: Error | undefined) {
      refusal = error;
    },
    goOn(ms: number) {
      now += ms;
    },
    async begin(taskId: string, ago = 0) {
      const message: Message = { messageId: taskId, role: 'ROLE_USER', parts: [{ text: 'go' }] };
      await commit(
        taskId,
        { ...written(ago), type: 'message-received', message },
        { ...written(ago), type: 'task-created', taskId, contextId: 'c' },
      );
    },
  };
}
