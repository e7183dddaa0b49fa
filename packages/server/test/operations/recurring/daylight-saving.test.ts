import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../../../test/kit/repetitions.ts';
import { dueTimes } from '../../../src/operations/recurring/due-times.ts';

const [minute, hour] = [60_000, 3_600_000];

/** What the clocks of a zone show, minute by minute, as if it were UTC: worked out without `dueTimes`. */
function wallOf(timezone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  return (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`);
}

/** What a clock shows at each minute, and what it skips before it. */
interface Minute {
  readonly at: number;
  readonly shown: number;
  readonly skipped: readonly number[];
  readonly isRepeated: boolean;
}

function minutesOf(wall: (at: number) => number, from: number, to: number): Minute[] {
  const before = new Set<number>();
  let last = wall(from - minute);
  return Array.from({ length: (to - from) / minute }, (_, n) => {
    const at = from + n * minute;
    const shown = wall(at);
    const skipped = Array.from(
      { length: Math.max(0, (shown - last) / minute - 1) },
      (__, m) => last + (m + 1) * minute,
    );
    const isRepeated = before.has(shown);
    before.add(shown);
    last = shown;
    return { at, shown, skipped, isRepeated };
  });
}

/** The moments at which a pattern is due, by the rule of the page. */
function dueOf(cron: string, minutes: readonly Minute[]): number[] {
  const pattern = new Cron(cron, { paused: true, timezone: 'UTC' });
  const goesOn = cron.split(' ')[1] === '*';
  const matches = (time: number) => pattern.match(new Date(time));
  return minutes
    .filter(
      ({ shown, skipped, isRepeated }) =>
        skipped.some(matches) || ((goesOn || !isRepeated) && matches(shown)),
    )
    .map(({ at }) => at);
}

/** The days of a year on which the clocks of a zone are set. */
function changesOf(wall: (at: number) => number, year: number): number[] {
  const ahead = (at: number) => wall(at) - at;
  const days = Array.from({ length: 366 }, (_, day) => Date.UTC(year, 0, 1 + day));
  return days.filter((day) => ahead(day) !== ahead(day + 24 * hour));
}

const patterns = [
  '30 2 * * *',
  '0,30 2 * * *',
  '*/30 2 * * *',
  '15,45 2 * * *',
  '* 2 * * *',
  '30 2,14 * * *',
  '15 2-4 * * *',
  '15 1-3 * * *',
  '0 2-3 * * *',
  '0 */2 * * *',
  '30 */2 * * *',
  '0 * * * *',
  '30 * * * *',
  '*/15 * * * *',
  '0 0 * * *',
  '5 0 * * 5',
  '59 23 * * *',
  '30 1 * * 0',
  '0 3 L * *',
];

/** Whole hours, half an hour, at midnight, and none at all. */
const someZones = ['Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Cairo', 'Asia/Kathmandu'];

/** One of the zones whose clocks are set at the same moments by the same times. */
function distinctZones(): string[] {
  const zones = new Map<string, string>();
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    const wall = wallOf(zone);
    const changes = changesOf(wall, 2026).map((day) => [day, wall(day) - day, wall(day + 24 * hour) - day]);
    zones.set(JSON.stringify(changes), zone);
  }
  return [...zones.values()];
}

describe('due times around the changes of a year', () => {
  it.each(repetitions(0, 1) ? distinctZones() : someZones)('come by the rule in %s', (zone) => {
    const wall = wallOf(zone);
    const changes = changesOf(wall, 2026);
    if (someZones.includes(zone)) expect(changes).toHaveLength(zone === 'Asia/Kathmandu' ? 0 : 2);
    for (const day of changes.length > 0 ? changes : [Date.UTC(2026, 2, 29)]) {
      const [from, to] = [day - 3 * hour, day + 30 * hour];
      const minutes = minutesOf(wall, from, to);
      for (const cron of patterns) {
        const { next, latest } = dueTimes(cron, zone);
        const expected = dueOf(cron, minutes);
        const found: number[] = [];
        for (let time = next(from - 1); time !== undefined && time < to; time = next(time)) found.push(time);
        const shown = (times: readonly number[]) => [cron, ...times.map((at) => new Date(at).toISOString())];
        expect(shown(found)).toEqual(shown(expected));
        for (let at = from; at < to; at += 173 * minute) {
          const before = expected.filter((time) => time <= at).at(-1);
          if (before !== undefined) expect([cron, at, latest(at)]).toEqual([cron, at, before]);
        }
      }
    }
  });

  it.each<[cron: string, gap: number, overlap: number]>([
    ['30 2,14 * * *', 2, 2],
    ['*/30 2 * * *', 1, 2],
    ['* 2 * * *', 1, 60],
    ['0 */2 * * *', 12, 12],
    ['15 1-3 * * *', 3, 3],
    ['0 * * * *', 23, 25],
    ['*/30 * * * *', 46, 50],
    ['*/30 30 2 * * *', 1, 2],
    ['@hourly', 23, 25],
    ['@daily', 1, 1],
  ])('%s comes so often on the days of both changes in Berlin', (cron, gap, overlap) => {
    const { next } = dueTimes(cron, 'Europe/Berlin');
    const count = (from: string, to: string) => {
      let times = 0;
      for (let at = next(Date.parse(from) - 1)!; at < Date.parse(to); at = next(at)!) times++;
      return times;
    };
    expect([
      count('2027-03-27T23:00Z', '2027-03-28T22:00Z'),
      count('2026-10-24T22:00Z', '2026-10-25T23:00Z'),
    ]).toEqual([gap, overlap]);
  });
});
