import { join } from 'node:path';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../test/kit/closed-after-test.ts';
import { temporaryFolder } from '../../../../test/kit/temporary-folder.ts';
import { completed, createAgentServer } from '../../src/index.ts';
import { scheduleScenarios } from './schedule.ts';

describe('in memory', () => scheduleScenarios(memoryStore));
describe('on SQLite', () =>
  scheduleScenarios(() => closedAfterTest(sqliteStore(join(temporaryFolder(), 'tasks.db')))));

it.each([
  { concurrency: 0 },
  { perCaller: 1.5 },
  { perContext: -1 },
  { concurrency: Number.NaN },
  { priority: -1 },
  { priority: Number.POSITIVE_INFINITY },
])('is refused if it cannot work: %j', (schedule) => {
  expect(() => serverWith(memoryStore(), schedule)).toThrow(TypeError);
});

it('is refused for a store that keeps none', () => {
  const { schedules: _, ...store } = memoryStore();
  expect(() => serverWith(store, { concurrency: 1 })).toThrow('`queue` needs a store');
});

const serverWith = (store: ReturnType<typeof memoryStore>, schedule: object) =>
  createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store,
    queue: schedule,
    async *agent() {
      yield completed();
    },
  });
