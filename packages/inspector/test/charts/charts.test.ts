import { describe, expect, it } from 'vitest';
import { ChartCounts, firstOf } from '../../src/charts/chart-counts.ts';
import { Durations } from '../../src/charts/durations.ts';
import { timeOf } from '../../src/charts/store-charts.ts';
import { charted } from './charted.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

describe('the charts of an agent', () => {
  it('count what began, ended, failed and waits, where it happened', async () => {
    const { charts, begin, change } = charted();
    for (const id of ['a', 'b', 'c', 'd']) await begin(id, 10 * minute);
    await change('a', 'TASK_STATE_COMPLETED', 5 * minute);
    await change('b', 'TASK_STATE_FAILED', 5 * minute);
    await change('c', 'TASK_STATE_INPUT_REQUIRED', minute);
    await begin('e', 3 * hour);
    await change('e', 'TASK_STATE_CANCELED');
    await begin('f', 8 * day);
    await change('f', 'TASK_STATE_COMPLETED', 2 * day);
    const { buckets, total } = await charts.read('hour');
    expect(buckets).toHaveLength(60);
    expect(buckets.flatMap((bucket, n) => (bucket.started || bucket.ended ? [[n, bucket]] : []))).toEqual([
      [49, { started: 4, ended: 0, failed: 0 }],
      [54, { started: 0, ended: 2, failed: 1, p50: expect.closeTo(300_000, -4.5), p95: expect.any(Number) }],
      [59, expect.objectContaining({ started: 0, ended: 1, failed: 0, waiting: 1 })],
    ]);
    expect(total).toMatchObject({ started: 4, ended: 3, failed: 1, waiting: 1 });
    expect(total.p95! / (3 * hour)).toBeCloseTo(1, 1);
    expect((await charts.read('day')).total).toMatchObject({ started: 5, ended: 3 });
    expect((await charts.read('week')).total).toMatchObject({ started: 5, ended: 4 });
  });

  it('count each thing once, however often they are read, and read what changed only', async () => {
    const { charts, read, begin, change, goOn } = charted();
    for (let n = 0; n < 600; n++) {
      await begin(`t${n}`, 2 * hour);
      await change(`t${n}`, 'TASK_STATE_COMPLETED', hour - n);
    }
    expect((await charts.read('day')).total).toMatchObject({ started: 600, ended: 600 });
    expect(read).toEqual({ pages: 3, rows: 600, logs: 600 });
    for (let turn = 0; turn < 5; turn++) {
      goOn(5 * minute);
      await begin(`n${turn}`);
      await charts.read('day');
      goOn(10 * second);
      await change(`n${turn}`, 'TASK_STATE_COMPLETED');
      await charts.read('day');
    }
    const { total } = await charts.read('day');
    expect(total).toMatchObject({ started: 605, ended: 605 });
    // The last minute is read again, as a commit may be seen later than its time says.
    expect(read.rows - 600).toBeLessThan(620);
    const before = read.rows;
    goOn(5 * minute);
    await charts.read('day');
    goOn(5 * minute);
    await charts.read('week');
    expect(read.rows - before).toBeLessThanOrEqual(2);
  });

  it('count a change that is seen later than one after it', async () => {
    const { charts, begin, goOn } = charted();
    await begin('a');
    await charts.read('hour');
    goOn(5 * second);
    await begin('b', 50 * second);
    expect((await charts.read('hour')).total.started).toBe(2);
  });

  it.each([
    ['the clock of another process', hour],
    ['the clock of another process', 30 * day],
    ['their own clock', hour],
    ['their own clock', 30 * day],
  ])('go on once %s was %i ms ahead for three seconds', async (whose, ahead) => {
    const { charts, begin, change, goOn } = charted();
    for (const id of ['a', 'b']) await begin(id, 10 * minute);
    await change('a', 'TASK_STATE_COMPLETED', 5 * minute);
    await charts.read('hour');
    goOn(ahead);
    await change('b', 'TASK_STATE_COMPLETED');
    if (whose === 'their own clock') await charts.read('hour');
    goOn(3 * second - ahead);
    await charts.read('hour');
    for (const [minutes, id] of ['c', 'd', 'e'].entries()) {
      await begin(id);
      goOn(minute);
      await change(id, 'TASK_STATE_COMPLETED');
      const { total } = await charts.read('hour');
      expect([total.started, total.ended]).toEqual([3 + minutes, 2 + minutes]);
    }
  });

  it('are read at most once in two seconds', async () => {
    const { charts, read, goOn } = charted();
    await Promise.all([charts.read('hour'), charts.read('day')]);
    await charts.read('week');
    expect(read.pages).toBe(1);
    goOn(2 * second);
    await charts.read('week');
    expect(read.pages).toBe(2);
  });

  it('say that the store does not answer, keep what they know, and go on', async () => {
    const { charts, refuse, begin, goOn } = charted();
    await begin('a');
    await charts.read('hour');
    goOn(5 * second);
    refuse(new Error('Gone'));
    await begin('b');
    expect(await charts.read('hour')).toMatchObject({ problem: expect.any(String), total: { started: 1 } });
    refuse(undefined);
    goOn(5 * second);
    const { problem, total } = await charts.read('hour');
    expect([problem, total.started]).toEqual([undefined, 2]);
  });

  it('read the first fact of a task only where its id does not say when it began', async () => {
    const { charts, read, begin, change } = charted();
    const at = Date.parse('2026-07-15T12:20:00.000Z');
    const id = `${at
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-7000-8000-000000000000`;
    expect(timeOf(id)).toBe(at);
    for (const other of ['t', id.replace('-7000', '-4000'), id.replace('-8000', '-c000')])
      expect(timeOf(other)).toBeUndefined();
    await begin(id);
    await change(id, 'TASK_STATE_COMPLETED');
    const { buckets } = await charts.read('hour');
    expect([buckets[49]?.started, read.logs]).toEqual([1, 0]);
  });
});

it('durations are right to within 5 %', () => {
  const durations = new Durations();
  expect(durations.at(0.5)).toBeUndefined();
  for (let ms = 1; ms <= 100_000; ms += 7) durations.add(ms);
  for (const part of [0.01, 0.5, 0.95, 1]) {
    const ratio = durations.at(part)! / (part * 100_000);
    expect(ratio).toBeGreaterThan(0.95);
    expect(ratio).toBeLessThan(1.05);
  }
  const other = new Durations();
  other.add(0);
  expect(other.at(0.95)).toBe(0);
  other.addAll(durations);
  expect(other.at(1)! / 100_000).toBeCloseTo(1, 1);
});

it('the counts of charts leave out spans of time that no range shows', () => {
  const counts = new ChartCounts();
  const now = Date.parse('2026-07-15T12:30:30.000Z');
  for (let ago = 0; ago < 30 * day; ago += 20 * minute) {
    counts.started(now - ago);
    counts.waiting(now - ago, 2);
  }
  const before = (['hour', 'day', 'week'] as const).map((range) => counts.read(range, now));
  expect(before.map(({ total }) => total.started)).toEqual([3, 71, 497]);
  counts.prune(now);
  expect((['hour', 'day', 'week'] as const).map((range) => counts.read(range, now))).toEqual(before);
  expect(counts.read('week', now - 20 * day).total.started).toBe(0);
  expect(firstOf('hour', now)).toBe(Date.parse('2026-07-15T11:31:00.000Z'));
});
