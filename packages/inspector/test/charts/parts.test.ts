import type { TaskQuery } from '@batonjs/store';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ChartCounts } from '../../src/charts/chart-counts.ts';
import { Durations } from '../../src/charts/durations.ts';
import { Once } from '../../src/charts/once.ts';
import { StoreCharts } from '../../src/charts/store-charts.ts';
import { charted } from './charted.ts';

const now = Date.parse('2026-07-15T12:30:30.000Z');
const minute = 60_000;

it('durations below a millisecond count as none, and those of one as one', () => {
  const durations = new Durations();
  durations.add(1);
  expect(durations.at(0.5)).toBe(1);
  durations.add(0.9);
  durations.add(0.9);
  expect(durations.at(0.5)).toBe(0);
  expect(durations.at(1)).toBe(1);
});

it('durations are counted in order, whichever came first, and together with those of others', () => {
  const [one, other] = [new Durations(), new Durations()];
  for (const ms of [1_000, 1, 1_000, 100]) one.add(ms);
  expect([one.at(0.25), one.at(1)]).toEqual([1, expect.closeTo(1_000, -2)]);
  expect(one.at(0.5)! / 100).toBeCloseTo(1, 1);
  for (let n = 0; n < 5; n += 1) other.add(1);
  one.addAll(other);
  // Six of nine took a millisecond.
  expect([one.at(0.66), one.at(0.7)! > 50]).toEqual([1, true]);
});

it('what happened is new once, and not at all if it was over before', () => {
  const once = new Once(100);
  expect([once.isNew('a', 100), once.isNew('a', 101), once.isNew('a', 101)]).toEqual([false, true, false]);
  expect(once.isNew('b', 102)).toBe(true);
  once.advance(101);
  expect([once.isNew('a', 101), once.isNew('b', 102), once.isNew('a', 102)]).toEqual([false, false, true]);
  // It does not go back.
  once.advance(50);
  expect(once.isNew('c', 101)).toBe(false);
});

describe('the counts of charts', () => {
  it('has the most that waited in each span, and how many wait now', () => {
    const counts = new ChartCounts();
    expect(counts.read('hour', now).total).toEqual({ started: 0, ended: 0, failed: 0 });
    for (const count of [2, 5, 3]) counts.waiting(now, count);
    const { buckets, total } = counts.read('hour', now);
    expect([buckets.at(-1)?.waiting, buckets.at(-2)?.waiting, total.waiting]).toEqual([5, undefined, 3]);
    expect(buckets.at(-2)).toStrictEqual({ started: 0, ended: 0, failed: 0 });
  });

  it('keeps a week, and its ranges end with the span that is not over', () => {
    const counts = new ChartCounts();
    const spans = { hour: [minute, 60], day: [30 * minute, 48], week: [180 * minute, 56] } as const;
    for (const [range, [ms, count]] of Object.entries(spans)) {
      const { buckets } = counts.read(range as 'hour', now);
      expect(buckets).toHaveLength(count);
      const first = (Math.floor(now / ms) - count + 1) * ms;
      const before = counts.read(range as 'hour', now).total.started;
      for (const at of [first, first - 1, now]) counts.started(at);
      counts.prune(now);
      expect(counts.read(range as 'hour', now).total.started - before).toBe(2);
    }
  });
});

/** A task in a list, whose id says when it began unless it is given another one. */
const listed = (began: number, changed: number, state: string, more: object = {}) => ({
  taskId: `${began
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})/, '$1-')}-7000-8000-${String(changed).slice(-12).padStart(12, '0')}`,
  head: { statusAt: new Date(changed).toISOString(), state: `TASK_STATE_${state}` },
  ...more,
});

/** Charts of a store that gives these pages, and what it was asked for. */
function paged(pages: { tasks: object[]; isCut?: boolean }[], more: object = {}) {
  const asked: TaskQuery[] = [];
  const tasks = {
    async list(_: string, query: TaskQuery) {
      if (query.state) return { tasks: [], total: query.state.endsWith('INPUT_REQUIRED') ? 4 : 0 };
      asked.push(query);
      return pages.shift() ?? { tasks: [] };
    },
    readFacts: async () => [],
    ...more,
  };
  const charts = new StoreCharts({ tasks, scopes: [{ scope: 's' }], queue: 'q' } as never, () => now);
  onTestFinished(() => charts.close());
  return { charts, asked };
}

describe('the charts of a store', () => {
  it('are read page by page, from a week and a minute ago', async () => {
    const many = Array.from({ length: 250 }, (_, n) => listed(now - minute, now - 1_000 - n, 'COMPLETED'));
    const cut = [listed(now - minute, now - 5_000, 'WORKING')];
    const { charts, asked } = paged([{ tasks: many }, { tasks: cut, isCut: true }, { tasks: [] }]);
    const { total, since, ...rest } = await charts.read('hour');
    expect(total).toMatchObject({ started: 251, ended: 250, failed: 0, waiting: 4 });
    expect([since, rest]).toEqual(['2026-07-08T12:30:30.000Z', { buckets: expect.any(Array) }]);
    const plain = { limit: 250, bytes: 262_144, statusSince: '2026-07-08T12:29:30.000Z', totalAtMost: 1 };
    const after = (task: { taskId: string; head: { statusAt: string } }) => ({
      after: { statusAt: task.head.statusAt, taskId: task.taskId },
    });
    expect(asked).toStrictEqual([
      plain,
      { ...plain, ...after(many.at(-1)!) },
      { ...plain, ...after(cut[0]!) },
    ]);
  });

  it('begin later where there are more than 20,000 tasks', async () => {
    const changed = (n: number) => now - 1_000 - n * minute;
    const page = (n: number) => ({
      tasks: Array.from({ length: 250 }, () => listed(now - minute, changed(n), 'WORKING')),
    });
    const { charts, asked } = paged(Array.from({ length: 90 }, (_, n) => page(n)));
    expect((await charts.read('hour')).since).toBe(new Date(changed(79)).toISOString());
    expect(asked).toHaveLength(80);
  });

  it('count a task without facts where it changed, and none as shorter than nothing', async () => {
    const { charts } = paged([
      {
        tasks: [
          listed(now - minute, now - 1_000, 'COMPLETED', { taskId: 'own' }),
          // Its clock was ahead.
          listed(now + 9 * minute, now - 2_000, 'FAILED'),
          { taskId: 'new', head: { statusAt: new Date(now - 3_000).toISOString() } },
        ],
      },
    ]);
    expect((await charts.read('hour')).total).toEqual({
      started: 2,
      ended: 2,
      failed: 1,
      waiting: 4,
      p50: 0,
      p95: 0,
    });
  });

  it('have the questions that the store counts, if it does', async () => {
    const asked: string[] = [];
    const measure = (questions: object | undefined) => async (queue: string) => {
      asked.push(queue);
      return { questions };
    };
    const waiting = async (more: object) => (await paged([], more).charts.read('hour')).total.waiting;
    expect(
      await waiting({ measure: measure({ TASK_STATE_INPUT_REQUIRED: 3, TASK_STATE_AUTH_REQUIRED: 2 }) }),
    ).toBe(5);
    expect(await waiting({ measure: measure({}) })).toBe(0);
    expect(await waiting({ measure: measure(undefined) })).toBe(4);
    expect(asked).toEqual(['q', 'q', 'q']);
  });

  it('say at once why nothing can be read, and are not complete then', async () => {
    const { charts, refuse, goOn } = charted();
    refuse(Object.assign(new Error('Away'), { name: 'StoreError' }));
    const broken = await charts.read('hour');
    expect(broken).toMatchObject({ problem: 'Away', total: { started: 0 } });
    expect(broken).not.toHaveProperty('isReading');
    refuse(undefined);
    goOn(2_000);
    const read = await charts.read('hour');
    expect([read.problem, read.isReading]).toEqual([undefined, undefined]);
  });
});
