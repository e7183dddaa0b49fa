import { completed } from '@batonjs/server';
import { recurring } from '@batonjs/server/schedules';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { expect, it } from 'vitest';
import { switchable } from '../../../../test/kit/faulty-store.ts';
import { serve as serveAgent } from '../../../../test/kit/serve.ts';
import { type Json, serve } from './inspector-api.ts';

/** An agent whose schedules started tasks months ago, and an inspector of its store, of one that fails and of one elsewhere. */
async function scheduled() {
  const clock = testClock(new Date('2026-01-01T00:00:30Z'));
  const store = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const server = serveAgent(
    async function* () {
      yield completed('Done');
    },
    {
      clock,
      store,
      name: 'clock',
      schedules: recurring([
        { name: 'tick', cron: '* * * * *', message: 'Tick', missed: 'all', caller: { scope: 'ada' } },
        { name: 'yearly', cron: '@yearly', message: 'Happy new year', timezone: 'Europe/Berlin' },
      ]),
    },
  );
  await clock.advance(300_000);
  const broken = switchable(memoryStore());
  const api = await serve({
    agents: [
      { server, callers: [{}, { caller: 'ada' }] },
      { name: 'broken', store: broken.store },
      { name: 'far', url: 'http://127.0.0.1:9' },
    ],
  });
  return { ...api, store, broken };
}

it('schedules are shown with their next time and their latest tasks, and which store does not answer', async () => {
  const { call, broken, store } = await scheduled();
  broken.isDown = true;
  const { json } = await call('/schedules');
  const { tasks } = await store.list('["clock","","ada"]', { limit: 9 });
  expect(tasks).toHaveLength(5);
  expect(json).toEqual({
    agents: [
      {
        agent: 'clock',
        schedules: [
          {
            name: 'tick',
            cron: '* * * * *',
            timezone: 'UTC',
            missed: 'all',
            nextAt: '2026-01-01T00:06:00.000Z',
            latestAt: '2026-01-01T00:05:00.000Z',
            isOverdue: true,
            label: 'schedule:tick',
            tasks: tasks.slice(0, 3).map(({ taskId, head }) => ({
              id: taskId,
              state: 'TASK_STATE_COMPLETED',
              at: head.statusAt,
              scope: 1,
            })),
          },
          {
            name: 'yearly',
            cron: '@yearly',
            timezone: 'Europe/Berlin',
            missed: 'last',
            nextAt: '2026-12-31T23:00:00.000Z',
            // It is, years later.
            isOverdue: expect.any(Boolean),
            label: 'schedule:yearly',
            tasks: [],
          },
        ],
      },
      { agent: 'broken', schedules: [], problem: 'It cannot be reached' },
    ],
  });
});

it('the latest tasks of a schedule are named whichever caller they were for, newest first', async () => {
  const clock = testClock(new Date('2026-01-01T00:00:30Z'));
  const store = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  for (const scope of ['ada', 'bob']) {
    const server = serveAgent(
      async function* () {
        yield completed('Done');
      },
      {
        clock,
        store,
        name: 'clock',
        schedules: recurring([{ name: 'tick', cron: '* * * * *', message: 'Tick', caller: { scope } }]),
      },
    );
    await clock.advance(120_000);
    const closed = server.close();
    await clock.advance(1_000);
    await closed;
  }
  const scopes = [{ caller: 'ada' }, { caller: 'bob' }];
  const { call } = await serve({ agents: [{ name: 'clock', store, callers: scopes }] });
  const { agents } = (await call('/schedules')).json as unknown as { agents: { schedules: Json[] }[] };
  const tasks = agents[0]!.schedules[0]!.tasks as unknown as { at: string; scope: number }[];
  expect(tasks.map(({ scope, at }) => `${scope} ${at.slice(11, 16)}`)).toEqual([
    '1 00:04',
    '1 00:03',
    '0 00:02',
  ]);
});
