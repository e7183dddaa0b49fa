import { expect, it } from 'vitest';
import { createStore, type Found, type Rows } from '../../src/adapter.ts';
import type { QueueReading } from '../../src/index.ts';
import { row, webhook } from '../a-row.ts';

const moment = { now: 1_000, orderNow: 2_000, leaseNow: 3_000 };
const nothing = { ...moment, waiting: 0, ready: { waiting: [], due: [], left: [] }, deliveries: [] };
const counts = { tasks: {}, askedAt: undefined, undelivered: 0, dead: 0 };

/** The reading of a store whose parts find this. */
function read(...parts: readonly Partial<Found>[]): Promise<QueueReading> {
  const rows = {
    read: ({ part = 0 }) => ({ ...nothing, ...parts[part] }),
    parts: () => ({ count: parts.length, of: () => 0 }),
  } as Partial<Rows> as Rows;
  return Promise.resolve(createStore('of a test', rows).measure!('q'));
}

it.each([
  ['waits', { waiting: [{ ...row(), waitingSince: 1_990 }], due: [], left: [] }, 10],
  ['is due', { waiting: [], due: [{ ...row(), dueAt: 980 }], left: [] }, 20],
  ['was left', { waiting: [], due: [], left: [{ ...row(), leaseUntil: 2_970 }] }, 30],
])('a turn that %s does so by its own clock', async (_, ready, waitingMs) => {
  expect(await read({ ready })).toEqual({ waiting: 0, waitingMs, nextMs: 0 });
});

it.each([
  ['a turn that is due later', { ready: { waiting: [], due: [{ ...row(), dueAt: 1_040 }], left: [] } }],
  [
    'a lease that runs out later',
    { ready: { waiting: [], due: [], left: [{ ...row(), leaseUntil: 3_040 }] } },
  ],
  ['a delivery that is tried again later', { deliveries: [{ ...webhook(), readyAt: 1_040 }] }],
])('%s waits for nothing yet, and says when it will', async (_, found) => {
  expect(await read(found)).toEqual({ waiting: 0, nextMs: 40 });
});

it('a clock that is a little behind makes nothing negative', async () => {
  const ready = { waiting: [{ ...row(), waitingSince: 2_001 }], due: [], left: [] };
  expect(await read({ ready })).toEqual({ waiting: 0, waitingMs: 0, nextMs: 0 });
});

it('of several parts, numbers are added up, and times are the longest', async () => {
  const ready = (waitingSince: number) => ({ waiting: [{ ...row(), waitingSince }], due: [], left: [] });
  const deliveries = (readyAt: number) => [{ ...webhook(), readyAt }];
  const asks = { TASK_STATE_INPUT_REQUIRED: 2 };
  const reading = await read(
    {
      ...{ waiting: 1, ready: ready(1_900), deliveries: deliveries(995) },
      counts: { tasks: { ...asks, 'put-off': 1 }, askedAt: 400, undelivered: 3, dead: 5 },
    },
    {
      ...{ waiting: 2, ready: ready(1_950), deliveries: deliveries(990) },
      counts: { tasks: asks, askedAt: 500, undelivered: 4, dead: 6 },
    },
    { counts },
  );
  expect(reading).toEqual({
    ...{ waiting: 3, waitingMs: 100, undeliveredMs: 10, questionMs: 600, nextMs: 0 },
    ...{ postponed: 1, questions: { TASK_STATE_INPUT_REQUIRED: 4 }, undelivered: 7, dead: 11 },
  });
});

it('what a part does not count is left out', async () => {
  expect(await read({}, { counts })).toEqual({ waiting: 0 });
  expect(await read({ counts })).toEqual({
    waiting: 0,
    postponed: 0,
    questions: {},
    undelivered: 0,
    dead: 0,
  });
  const { undelivered, ...rest } = counts;
  expect(await read({ counts }, { counts: rest as never })).toEqual({
    waiting: 0,
    postponed: 0,
    questions: {},
  });
});
