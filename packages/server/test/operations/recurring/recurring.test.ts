import { eraseTasks } from '@batonjs/operator';
import type { Task } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { type TestClock, testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { switchable } from '../../../../../test/kit/faulty-store.ts';
import { rpc } from '../../../../../test/kit/rpc.ts';
import { type ServeOptions, serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed } from '../../../src/index.ts';
import {
  forgetSchedule,
  type RecurringTask,
  recurring,
  schedulesIn,
} from '../../../src/operations/recurring/schedules.ts';

const start = new Date('2026-01-01T00:00:30Z');
const minute = 60_000;
const everyMinute: RecurringTask = { name: 'tick', cron: '* * * * *', message: 'Tick' };

/** Says for which due time it was started. */
const tells: Agent = async function* ({ metadata, text }) {
  yield completed(`${text} ${(metadata.schedule as { dueAt: string }).dueAt.slice(11, 16)}`);
};

function world() {
  const clock = testClock(start);
  const store = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const logged: string[] = [];
  const begin = (tasks: readonly RecurringTask[] = [everyMinute], options: ServeOptions = {}) =>
    serve(tells, {
      clock,
      store,
      logger: (_level, message) => void logged.push(message),
      schedules: recurring(tasks),
      ...options,
    });
  return { clock, store, logged, begin };
}

/** The server closes at its clock. */
async function end(server: { close(): Promise<void> }, clock: TestClock): Promise<void> {
  const closed = server.close();
  await clock.advance(1_000);
  await closed;
}

/** What the tasks of the store said, the oldest first. */
async function said(store: TaskStore, label = 'schedule:tick'): Promise<string[]> {
  const clock = testClock(start);
  const reader = serve(tells, { clock, store });
  const { tasks } = await rpc(reader, 'ListTasks', { pageSize: 100 });
  const texts: string[] = (tasks as Task[]).map((task) => {
    const [part] = task.status.message?.parts ?? [];
    return part && 'text' in part ? String(part.text) : task.status.state;
  });
  const { total } = await store.list('["agent","",""]', { limit: 1, labels: [label] });
  expect(total).toBe(texts.length);
  return texts.toSorted();
}

describe('recurring tasks', () => {
  it('alone tell their agents of a schedule: what a client says of one is left out', async () => {
    const seen: unknown[] = [];
    const server = serve(async function* ({ metadata }) {
      seen.push(metadata);
      yield completed();
    });
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const metadata = { schedule: { name: 'tick', dueAt: '2026-01-01T00:01:00.000Z' }, other: 1 };
    await rpc(server, 'SendMessage', { message, metadata });
    expect(seen).toEqual([{ other: 1 }]);
  });

  it('start once for each due time, whichever of several servers are there', async () => {
    const { clock, store, begin } = world();
    const first = begin();
    begin();
    await clock.advance(2 * minute);
    await end(first, clock);
    begin();
    await clock.advance(2 * minute);
    expect(await said(store)).toEqual(['Tick 00:01', 'Tick 00:02', 'Tick 00:03', 'Tick 00:04']);
  });

  it('do not start again after the clock of a server was set back, although they were erased', async () => {
    const { clock, store, begin } = world();
    const first = begin();
    await clock.advance(3 * minute);
    expect(await eraseTasks(first, {})).toMatchObject({ tasks: 3 });
    await end(first, clock);
    const behind = testClock(start);
    begin([everyMinute], { clock: behind });
    await behind.advance(4 * minute);
    expect(await said(store)).toEqual(['Tick 00:04']);
  });

  it.each([
    ['skip', []],
    ['last', ['Tick 00:10']],
    ['all', ['03', '04', '05', '06', '07', '08', '09', '10'].map((n) => `Tick 00:${n}`)],
  ] as const)('that were missed are treated as the policy says: %s', async (missed, started) => {
    const { clock, store, logged, begin } = world();
    const tasks = [{ ...everyMinute, missed }];
    const first = begin(tasks);
    await clock.advance(2 * minute);
    await end(first, clock);
    await clock.advance(9 * minute);
    const second = begin(tasks);
    await clock.advance(1_000);
    await end(second, clock);
    // The time within the last minute is not missed.
    expect(await said(store)).toEqual(['Tick 00:01', 'Tick 00:02', ...started, 'Tick 00:11']);
    const warned = logged.filter((line) => line.startsWith('Times of a recurring task were missed'));
    expect(warned).toHaveLength(missed === 'all' ? 0 : 1);
  });

  it('with other times begin again: those that passed before are no times of theirs', async () => {
    const { clock, store, begin } = world();
    const first = begin([{ ...everyMinute, missed: 'all' }]);
    await clock.advance(2 * minute);
    await end(first, clock);
    const second = begin([{ ...everyMinute, cron: '*/30 * * * * *', missed: 'all' }]);
    await clock.advance(minute);
    await end(second, clock);
    expect(await said(store)).toHaveLength(4);
    // Back to the first times: what the others did meanwhile is done.
    begin([{ ...everyMinute, missed: 'all' }]);
    await clock.advance(minute);
    expect(await said(store)).toHaveLength(5);
    const [known] = await schedulesIn(store, 'agent', clock.now());
    expect(known).toMatchObject({ cron: '* * * * *', isOverdue: false });
  });

  it('are remembered in one small record, however long they run', async () => {
    const { clock, store, begin } = world();
    begin([{ ...everyMinute, cron: '* * * * * *' }]);
    await clock.advance(200_000);
    const [known] = await schedulesIn(store, 'agent', clock.now());
    expect(known?.latest?.dueAt).toBe('2026-01-01T00:03:50.000Z');
    expect(await store.listRecords({ limit: 9, prefix: 'schedules/' })).toHaveLength(1);
    const { total } = await store.list('["agent","",""]', { limit: 1, labels: ['schedule:tick'] });
    expect(total).toBe(200);
  });

  it('belong to their caller, and begin with the labels of the server too', async () => {
    const { clock, store, begin } = world();
    begin([{ ...everyMinute, caller: { scope: 'ada', claims: { name: 'Ada' } }, tenant: 'eu' }], {
      messages: { labelsOf: (_, caller) => [String(caller?.claims?.name)] },
    });
    await clock.advance(minute);
    const labels = ['schedule:tick', 'Ada'];
    const { tasks } = await store.list('["agent","eu","ada"]', { limit: 9, labels });
    expect(tasks).toHaveLength(1);
    const [known] = await schedulesIn(store, 'agent', clock.now());
    expect(known?.latest?.taskId).toBe(tasks[0]?.taskId);
    // It is erased with its caller.
    const kept = await store.listRecords({ scope: '["agent","eu","ada"]', limit: 9 });
    expect(kept.map(({ name }) => name)).toContain('schedules/agent/tick');
  });

  it('wait for a store that fails, and start then', async () => {
    const { clock, store: inner, logged, begin } = world();
    const switched = switchable(inner);
    begin([everyMinute], { store: switched.store });
    await clock.advance(10_000);
    switched.isDown = true;
    await clock.advance(40_000);
    switched.isDown = false;
    await clock.advance(30_000);
    expect(await said(inner)).toEqual(['Tick 00:01']);
    expect(logged.filter((line) => line.startsWith('A recurring task'))).toEqual([]);
  });

  it('that the server refuses are logged, and the next ones start', async () => {
    const { clock, store, logged, begin } = world();
    begin([
      { ...everyMinute, tenant: 'x'.repeat(3_000) },
      { ...everyMinute, name: 'good' },
    ]);
    await clock.advance(minute);
    expect(logged).toContain('A recurring task was refused');
    expect(await said(store, 'schedule:good')).toEqual(['Tick 00:01']);
  });

  it('start no more once the server closes, and the next server starts those', async () => {
    const { clock, store, begin } = world();
    const first = begin();
    await clock.advance(29_999);
    await end(first, clock);
    expect(await said(store)).toEqual([]);
    begin();
    await clock.advance(1_000);
    expect(await said(store)).toEqual(['Tick 00:01']);
  });

  it('that no server has are overdue until they are forgotten', async () => {
    const { clock, store, begin } = world();
    const first = begin([everyMinute, { name: 'yearly', cron: '@yearly', message: 'Happy new year' }]);
    await clock.advance(minute);
    await end(first, clock);
    const known = await schedulesIn(store, 'agent', clock.now() + 5 * minute);
    expect(known).toMatchObject([
      { name: 'tick', isOverdue: true, nextAt: '2026-01-01T00:02:00.000Z', timezone: 'UTC', missed: 'last' },
      { name: 'yearly', isOverdue: false, nextAt: '2027-01-01T00:00:00.000Z' },
    ]);
    expect(await forgetSchedule(store, 'agent', 'tick')).toBe(true);
    expect(await forgetSchedule(store, 'agent', 'tick')).toBe(false);
    expect((await schedulesIn(store, 'agent')).map(({ name }) => name)).toEqual(['yearly']);
    expect(await schedulesIn(store, 'other')).toEqual([]);
  });

  it('are made by `recurring`', () => {
    expect(() => serve(tells, { schedules: [everyMinute] as never })).toThrow(
      '`schedules` must be what `recurring` of `@batonjs/server/schedules` returns',
    );
  });
});
