import { A2AError } from '@batonjs/protocol/errors';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { systemClock } from '../../../src/base/timing/clock.ts';
import type {
  DueTask,
  Missed,
  RecurringTask,
  ScheduleSource,
} from '../../../src/operations/recurring/recurring-task.ts';
import {
  type RecordedSchedule,
  recordedSchedules,
  scheduleRecord,
  withForm,
} from '../../../src/operations/recurring/schedule-record.ts';
import { forgetSchedule, recurring, schedulesIn } from '../../../src/operations/recurring/schedules.ts';

const start = Date.parse('2026-01-01T00:00:30Z');
const minute = 60_000;
const tick: RecurringTask = { name: 'tick', cron: '* * * * *', message: 'Tick' };

const recordIn = (store: TaskStore) => scheduleRecord({ queue: 'q', store }, 'tick');

/** Schedules in one process, whose server takes each message as `submit` says. */
function running(
  tasks: readonly RecurringTask[],
  {
    store = memoryStore(),
    clock = testClock(start),
    submit = async () => {},
  }: {
    store?: TaskStore;
    clock?: ReturnType<typeof testClock>;
    submit?: (due: DueTask) => Promise<void>;
  } = {},
) {
  const due: DueTask[] = [];
  const logged: unknown[] = [];
  const reported: unknown[] = [];
  const source: ScheduleSource = {
    queue: 'q',
    store,
    clock: { ...systemClock, ...clock },
    logger: (level, message, details) => void logged.push([level, message, details]),
    report: (message, details) => void reported.push([message, details]),
    async submit(task) {
      due.push(task);
      await submit(task);
    },
  };
  const schedules = recurring(tasks).start(source);
  const close = async () => {
    const closed = schedules.close();
    await clock.advance(0);
    await closed;
  };
  onTestFinished(close);
  const times = () => due.map(({ metadata }) => metadata.schedule.dueAt.slice(11, 19));
  return { store, clock, due, logged, reported, times, close };
}

describe('a task that recurs', () => {
  it('is told its message, its due time and whose it is, under an id that is the same in each process', async () => {
    const parts = [{ data: { n: 1 } }];
    const caller = { scope: 'ada' };
    const { clock, due } = running([tick, { ...tick, name: 'other', message: parts, caller, tenant: 'eu' }]);
    await clock.advance(minute);
    expect(due.toSorted((a, b) => (a.label < b.label ? -1 : 1))).toEqual([
      {
        messageId: 'schedule:other:2026-01-01T00:01:00.000Z',
        parts,
        metadata: { schedule: { name: 'other', dueAt: '2026-01-01T00:01:00.000Z' } },
        label: 'schedule:other',
        caller,
        tenant: 'eu',
      },
      {
        messageId: 'schedule:tick:2026-01-01T00:01:00.000Z',
        parts: [{ text: 'Tick' }],
        metadata: { schedule: { name: 'tick', dueAt: '2026-01-01T00:01:00.000Z' } },
        label: 'schedule:tick',
        caller: undefined,
        tenant: undefined,
      },
    ]);
  });

  it('is tried again after pauses that double, up to a minute, while the server fails, which is reported', async () => {
    const failure = new Error('Broken');
    const at: number[] = [];
    const { clock, reported, logged, close } = running([tick], {
      submit: async () => {
        at.push(clock.now());
        throw failure;
      },
    });
    await clock.advance(30_000 + 4 * minute);
    await close();
    const pauses = at.slice(1).map((time, n) => time - at[n]!);
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(reported[0]).toEqual([
      'A recurring task could not be started, and is tried again',
      { schedule: 'tick', error: failure },
    ]);
    expect(reported).toHaveLength(at.length);
    expect(logged.filter((one) => !(Array.isArray(one) && one[0] === 'warn'))).toEqual([]);
  });

  it.each(['RESOURCE_EXHAUSTED', 'INTERNAL_ERROR'] as const)(
    'is tried again where it is refused with %s, which is reported',
    async (reason) => {
      let left = 1;
      const { clock, times, reported } = running([tick], {
        submit: async () => {
          if (left-- > 0) throw new A2AError(reason, 'x');
        },
      });
      await clock.advance(minute);
      expect([times(), reported.length]).toEqual([['00:01:00', '00:01:00'], 1]);
    },
  );

  it('is tried again where the server is not available, which is nothing to report', async () => {
    let left = 2;
    const { clock, times, reported } = running([tick], {
      submit: async () => {
        if (left-- > 0) throw new A2AError('UNAVAILABLE', 'x');
      },
    });
    await clock.advance(minute);
    expect([times().length, reported]).toEqual([3, []]);
  });

  it('is passed over where it is refused for good, which is logged, and no task is remembered', async () => {
    const { clock, times, logged, store, reported } = running([tick], {
      submit: async () => {
        throw new A2AError('INVALID_PARAMS', 'x');
      },
    });
    await clock.advance(2 * minute);
    expect(times()).toEqual(['00:01:00', '00:02:00']);
    expect(logged[0]).toEqual([
      'error',
      'A recurring task was refused',
      { schedule: 'tick', dueAt: '2026-01-01T00:01:00.000Z', error: expect.any(A2AError) },
    ]);
    expect(reported).toEqual([]);
    const [known] = await schedulesIn(store, 'q', clock.now());
    expect([known?.latest, known?.nextAt]).toEqual([undefined, '2026-01-01T00:03:00.000Z']);
  });

  it('that another process started with other words counts as started', async () => {
    const { clock, times, logged, store } = running([tick], {
      submit: async () => {
        throw new A2AError('MESSAGE_ID_CONFLICT', 'x');
      },
    });
    await clock.advance(minute);
    expect([times(), logged]).toEqual([['00:01:00'], []]);
    const [known] = await schedulesIn(store, 'q', clock.now());
    expect(known?.latest).toEqual({ dueAt: '2026-01-01T00:01:00.000Z', taskId: expect.any(String) });
  });

  it('is not started for what another process has done with meanwhile', async () => {
    const { clock, times, store } = running([tick]);
    await clock.advance(1_000);
    await recordIn(store).change(([known]) => [{ ...known!, through: '2026-01-01T00:02:00.000Z' }]);
    await clock.advance(3 * minute);
    expect(times()).toEqual(['00:03:00']);
  });

  it.each([
    ['skip', 'all are passed over'],
    ['last', 'all but the last one are passed over'],
  ] as const)('that was missed is logged with its times: %s', async (missed, words) => {
    const tasks = [{ ...tick, missed }];
    const first = running(tasks);
    await first.clock.advance(minute);
    await first.close();
    await first.clock.advance(10 * minute);
    const second = running(tasks, { store: first.store, clock: first.clock });
    await first.clock.advance(1_000);
    expect(second.logged).toEqual([
      [
        'warn',
        `Times of a recurring task were missed: ${words}`,
        {
          schedule: 'tick',
          from: '2026-01-01T00:02:00.000Z',
          to: '2026-01-01T00:10:00.000Z',
        },
      ],
    ]);
    expect(second.times()).toEqual(missed === 'skip' ? ['00:11:00'] : ['00:10:00', '00:11:00']);
  });

  it('is started once although its record could not be written at first', async () => {
    let isDown = false;
    const store = change(memoryStore(), {
      putRecord:
        (put) =>
        (...given) =>
          isDown ? Promise.reject(new StoreError('UNAVAILABLE', 'away')) : put(...given),
    });
    const { clock, due } = running([tick], {
      store,
      submit: async () => {
        isDown = true;
      },
    });
    await clock.advance(minute);
    isDown = false;
    await clock.advance(500);
    const ids = new Set(due.map(({ messageId }) => messageId));
    expect([...ids]).toEqual(['schedule:tick:2026-01-01T00:01:00.000Z']);
  });

  it('sleeps for 5 seconds at most: the wall clock may be set meanwhile', async () => {
    const clock = testClock(start);
    const sleeps: number[] = [];
    const noting = {
      ...clock,
      sleep(ms: number, signal?: AbortSignal) {
        sleeps.push(ms);
        return clock.sleep(ms, signal);
      },
    };
    running([{ ...tick, cron: '@yearly' }], { clock: noting });
    await clock.advance(12_000);
    expect(sleeps).toEqual([5_000, 5_000, 5_000]);
    const near = testClock(start);
    const short: number[] = [];
    await near.advance(22_000);
    running([tick], {
      clock: {
        ...near,
        async sleep(ms: number, signal?: AbortSignal) {
          short.push(ms);
          await near.sleep(ms, signal);
        },
      },
    });
    await near.advance(8_000);
    expect(short.slice(0, 2)).toEqual([5_000, 3_000]);
  });
});

describe('a clock that was wrong', () => {
  const [second, hour] = [1_000, 60 * minute];
  /** The distinct times that were started and have come, to the minute. */
  const startedOf = (due: readonly DueTask[], now: number) =>
    [...new Set(due.map(({ metadata }) => metadata.schedule.dueAt))]
      .filter((dueAt) => Date.parse(dueAt) <= now)
      .map((dueAt) => dueAt.slice(11, 16))
      .sort();
  const minutes = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, n) => `00:${String(from + n).padStart(2, '0')}`);
  const ahead = 'A clock was ahead: due times that it passed over are taken up again';

  // It is noticed up to 5 s later.
  it.each<[string, Missed, [by: number, forMs: number][], string[], number]>([
    [
      'ahead for 20 s',
      'last',
      [
        [0, 130 * second],
        [hour, 20 * second],
        [0, 3 * minute],
      ],
      minutes(1, 6),
      1,
    ],
    [
      'ahead for 20 s',
      'skip',
      [
        [0, 130 * second],
        [hour, 20 * second],
        [0, 3 * minute],
      ],
      minutes(1, 6),
      1,
    ],
    [
      '30 days ahead',
      'last',
      [
        [0, 130 * second],
        [720 * hour, 20 * second],
        [0, 3 * minute],
      ],
      minutes(1, 6),
      1,
    ],
    [
      'more and more ahead',
      'last',
      [
        [0, 130 * second],
        [hour, 20 * second],
        [2 * hour, 20 * second],
        [0, 3 * minute],
      ],
      [...minutes(1, 2), ...minutes(4, 6)],
      1,
    ],
    [
      'ahead when it began',
      'last',
      [
        [hour, 20 * second],
        [0, 3 * minute],
      ],
      minutes(1, 3),
      1,
    ],
    [
      'ahead, and starts them all then',
      'all',
      [
        [0, 130 * second],
        [10 * minute, 20 * second],
        [0, 3 * minute],
      ],
      minutes(1, 6),
      0,
    ],
    [
      'ahead, then right, then set back',
      'last',
      [
        [0, 130 * second],
        [hour, 20 * second],
        [0, 3 * minute],
        [-2 * minute, 3 * minute],
      ],
      minutes(1, 7),
      1,
    ],
    // What was passed over is over by the clock that was set back, too.
    [
      'set forwards, and back a little',
      'last',
      [
        [0, 130 * second],
        [10 * minute, 3 * minute],
        [8 * minute, 2 * minute],
      ],
      [...minutes(1, 2), ...minutes(11, 15)],
      0,
    ],
    [
      'set back',
      'last',
      [
        [0, 3 * minute],
        [-2 * minute, 4 * minute],
      ],
      minutes(1, 5),
      0,
    ],
  ])('%s silences no schedule: %s', async (_, missed, phases, expected, told) => {
    let by = 0;
    const clock = testClock(start);
    const wrong = { ...clock, now: () => clock.now() + by };
    by = phases[0]?.[0] ?? 0;
    const { store, due, logged } = running([{ ...tick, missed }], { clock: wrong });
    for (const [next, forMs] of phases) {
      by = next;
      await clock.advance(forMs);
    }
    expect(startedOf(due, wrong.now())).toEqual(expected);
    expect(logged.filter((line) => Array.isArray(line) && line[1] === ahead)).toHaveLength(told);
    const [known] = await schedulesIn(store, 'q', wrong.now());
    expect(known).toMatchObject({ isOverdue: false });
  });

  it.each(['beside it', 'after it'])('silences no process that has the right one, %s', async (when) => {
    const clock = testClock(start);
    const right = running([tick], { clock });
    await clock.advance(2 * minute);
    if (when === 'after it') await right.close();
    const wrong = running([tick], { store: right.store, clock: { ...clock, now: () => clock.now() + hour } });
    await clock.advance(20 * second);
    await wrong.close();
    expect(await schedulesIn(right.store, 'q', clock.now())).toMatchObject([{ isOverdue: false }]);
    // No process goes on with it: it is overdue as any other is.
    const [known] = await schedulesIn(right.store, 'q', clock.now() + 2 * minute);
    expect(known).toMatchObject({ nextAt: '2026-01-01T00:03:00.000Z', isOverdue: true });
    const again = when === 'after it' ? running([tick], { store: right.store, clock }) : right;
    await clock.advance(3 * minute);
    expect(startedOf([...right.due, ...again.due], clock.now())).toEqual(minutes(1, 5));
    expect(again.logged).toMatchObject([['warn', ahead, { schedule: 'tick' }]]);
  });

  it('leaves a schedule that was forgotten to begin again', async () => {
    const { store, due, clock: real } = running([tick]);
    await real.advance(2 * minute);
    await recordIn(store).change(([known]) => [{ ...known!, through: '2026-01-01T05:00:00.000Z' }]);
    await real.advance(2 * minute);
    expect(await forgetSchedule(store, 'q', 'tick')).toBe(true);
    await real.advance(3 * minute);
    expect(startedOf(due, real.now()).slice(-2)).toEqual(minutes(6, 7));
  });
});

describe('the times of a name', () => {
  const hourly = { ...tick, cron: '@hourly' };

  it('that come back were not missed meanwhile, and stay though they are old', async () => {
    const first = running([tick]);
    await first.clock.advance(minute);
    await first.close();
    const { store, clock } = first;
    const second = running([hourly], { store, clock });
    await clock.advance(58 * minute + 40_000);
    await second.close();
    const back = running([tick], { store, clock });
    await clock.advance(minute);
    expect([back.logged, back.due.length]).toEqual([[], 1]);
    await back.close();
    await clock.advance(8 * 24 * 60 * minute);
    for (const missed of ['skip', 'last'] as const) {
      const same = running([{ ...tick, missed }], { store, clock });
      await clock.advance(1);
      await same.close();
    }
    expect((await recordIn(store).read()).map(({ cron }) => cron)).toEqual(['* * * * *']);
  });

  it('do not go back to one that another process left behind while it was started', async () => {
    const { store, clock, times } = running([tick], {
      submit: async ({ metadata }) => {
        if (!metadata.schedule.dueAt.includes('00:01:00')) return;
        await recordIn(store).change(([known]) => [{ ...known!, through: '2026-01-01T00:01:30.000Z' }]);
      },
    });
    await clock.advance(minute);
    expect((await recordIn(store).read())[0]?.through).toBe('2026-01-01T00:01:30.000Z');
    await clock.advance(minute);
    expect(times()).toEqual(['00:01:00', '00:02:00']);
  });

  it('are forgotten a week after it got others, and those that it has are not', async () => {
    const first = running([tick]);
    await first.clock.advance(minute);
    await first.close();
    const names = async () => (await recordedSchedules(first.store, 'q')).map(({ cron }) => cron);
    const second = running([hourly], { store: first.store, clock: first.clock });
    await first.clock.advance(1_000);
    await second.close();
    expect((await names()).sort()).toEqual(['* * * * *', '@hourly']);
    await first.clock.advance(8 * 86_400_000);
    const third = running([hourly], { store: first.store, clock: first.clock });
    await first.clock.advance(1_000);
    await third.close();
    expect(await names()).toEqual(['@hourly']);
  });

  it('are written again where what becomes of missed ones changes, and not where nothing does', async () => {
    const writes: unknown[] = [];
    const store = change(memoryStore(), {
      putRecord:
        (put) =>
        (...given) => {
          writes.push(given);
          return put(...given);
        },
    });
    const clock = testClock(start);
    for (const [missed, expected] of [
      ['last', 1],
      ['last', 1],
      ['skip', 2],
    ] as const) {
      const one = running([{ ...tick, missed }], { store, clock });
      await clock.advance(1);
      await one.close();
      expect(writes).toHaveLength(expected);
    }
    const [known] = await schedulesIn(store, 'q', clock.now());
    expect(known).toMatchObject({ missed: 'skip', since: expect.any(String) });
  });
});

describe('the record of schedules', () => {
  const schedule = (name: string, more: object = {}) => ({
    name,
    cron: '* * * * *',
    timezone: 'UTC',
    missed: 'last' as const,
    since: '2026-01-01T00:00:00.000Z',
    through: '2026-01-01T00:00:00.000Z',
    ...more,
  });
  const put = (store: TaskStore, one: RecordedSchedule) =>
    scheduleRecord({ queue: 'q', store }, one.name, 's').change((forms) => withForm(forms, one));

  it('has each schedule as it was set last, by its name, and belongs to a caller', async () => {
    const store = memoryStore();
    const [a, b] = ['a', 'b'].map((name) => scheduleRecord({ queue: 'q', store }, name, 's'));
    expect(await a!.read()).toEqual([]);
    for (const one of [
      schedule('b'),
      schedule('a'),
      schedule('a', { missed: 'all' }),
      schedule('a', { cron: '@daily' }),
    ])
      await put(store, one);
    await a!.change(() => undefined);
    const forms = [schedule('a', { missed: 'all' }), schedule('a', { cron: '@daily' })];
    expect([await a!.read(), await b!.read()]).toEqual([forms, [schedule('b')]]);
    expect(await recordedSchedules(store, 'q')).toEqual([...forms, schedule('b')]);
    expect(await recordedSchedules(store, 'q2')).toEqual([]);
    expect(await store.listRecords({ scope: 's', limit: 9 })).toHaveLength(2);
  });

  it('is decided again where another process wrote meanwhile', async () => {
    const store = memoryStore();
    let isFirst = true;
    const late = change(store, {
      putRecord:
        (write) =>
        async (...given) => {
          if (isFirst) {
            isFirst = false;
            await put(store, schedule('a', { cron: '@daily' }));
          }
          return write(...given);
        },
    });
    await put(late, schedule('a'));
    expect((await recordedSchedules(store, 'q')).map(({ cron }) => cron)).toEqual(['@daily', '* * * * *']);
  });

  it('fails with what else the store says', async () => {
    const error = new StoreError('UNREADABLE', 'It is damaged');
    const store = change(memoryStore(), { putRecord: () => () => Promise.reject(error) });
    await expect(put(store, schedule('a'))).rejects.toBe(error);
  });

  it('has schedules by their names, the newest form of each', async () => {
    const store = memoryStore();
    for (const one of [
      schedule('b'),
      schedule('a', { cron: '@hourly', since: '2026-01-01T02:00:00.000Z' }),
      schedule('a', { since: '2026-01-01T01:00:00.000Z' }),
      schedule('c', { timezone: 'Europe/Berlin', cron: '@daily' }),
    ])
      await put(store, one);
    const at = Date.parse('2026-01-01T00:02:00.000Z');
    const known = await schedulesIn(store, 'q', at);
    expect(known.map(({ name, cron, nextAt, isOverdue }) => [name, cron, nextAt, isOverdue])).toEqual([
      ['a', '@hourly', '2026-01-01T01:00:00.000Z', false],
      // A minute late is not overdue.
      ['b', '* * * * *', '2026-01-01T00:01:00.000Z', false],
      ['c', '@daily', '2026-01-01T23:00:00.000Z', false],
    ]);
    expect((await schedulesIn(store, 'q', at + 1))[1]?.isOverdue).toBe(true);
    expect(Object.keys(known[0]!)).not.toContain('through');
  });
});
