import { describe, expect, it } from 'vitest';
import { dueTimes } from '../../../src/operations/recurring/due-times.ts';
import { type RecurringTask, recurring } from '../../../src/operations/recurring/schedules.ts';

/** The first times of an expression after one, in UTC. */
function timesOf(cron: string, timezone: string, after: string, count: number): string[] {
  const { next } = dueTimes(cron, timezone);
  const found: string[] = [];
  for (let time = Date.parse(after); found.length < count; ) {
    time = next(time)!;
    found.push(new Date(time).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

describe('the times of a schedule', () => {
  it('come once where the clocks go forward over them, at the end of the gap', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', 3)).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
    expect(timesOf('30 2 * * *', 'America/New_York', '2026-03-08T00:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ]);
  });

  it('come once where the clocks go back over them, at the first of both times', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00Z', 3)).toEqual([
      '2026-10-24T00:30Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:30Z',
    ]);
  });

  it('come every hour, in the hour that comes twice too', () => {
    expect(timesOf('0 * * * *', 'Europe/Berlin', '2026-10-24T23:30Z', 4)).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
      '2026-10-25T03:00Z',
    ]);
    expect(timesOf('0 * * * *', 'Europe/Berlin', '2026-03-29T00:30Z', 2)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-29T02:00Z',
    ]);
  });

  it('have a latest one at or before a time', () => {
    const { latest } = dueTimes('*/10 * * * * *', 'UTC');
    expect(latest(30_000)).toBe(30_000);
    expect(latest(39_999)).toBe(30_000);
    expect(latest(29_999)).toBe(20_000);
  });
});

const task: RecurringTask = { name: 'report', cron: '0 9 * * *', message: 'Report' };

describe('a recurring task is refused', () => {
  it.each<[string, Partial<Record<keyof RecurringTask, unknown>>, RegExp]>([
    [
      'with a minute that does not exist',
      { cron: '61 * * * *' },
      /"61 \* \* \* \*" cannot be read: .*minute/,
    ],
    ['with three fields', { cron: '* * *' }, /"\* \* \*" cannot be read/],
    ['with a single date', { cron: '2030-01-01T00:00:00Z' }, /nickname such as @daily, and "2030-01-01T00/],
    ['with a nickname and more', { cron: '@daily!' }, /nickname such as @daily, and "@daily!" is neither/],
    ['without an expression', { cron: undefined }, /nickname such as @daily, and undefined is neither/],
    ['with a day that never comes', { cron: '0 0 31 2 *' }, /"report" has no times: .*ever comes/],
    ['in a time zone that does not exist', { timezone: 'Mars/Base' }, /no time zone "Mars\/Base"/],
    ['without a message', { message: '' }, /"report" needs a `message`/],
    ['without parts', { message: [] }, /"report" needs a `message`/],
    ['with a name that no label has', { name: 'a b' }, /The name of a recurring task .* not "a b"/],
    ['without a name', { name: undefined }, /The name of a recurring task/],
    ['with another policy', { missed: 'none' }, /needs `missed` to be 'skip', 'last' or 'all'/],
    ['with an option that does not exist', { timeZone: 'UTC' } as never, /did you mean `report.timezone`/],
    ['with a caller without a scope', { caller: {} }, /needs a `scope` of its `caller`/],
  ])('%s', (_, wrong, message) => {
    expect(() => recurring([{ ...task, ...wrong } as RecurringTask])).toThrow(TypeError);
    expect(() => recurring([{ ...task, ...wrong } as RecurringTask])).toThrow(message);
  });

  it('if another one has its name, and if it is no array', () => {
    expect(() => recurring([task, { ...task, cron: '@hourly' }])).toThrow(
      new TypeError('Two recurring tasks are called "report"'),
    );
    expect(() => recurring(task as never)).toThrow(TypeError);
  });
});
