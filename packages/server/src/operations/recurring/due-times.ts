import { Cron } from 'croner';
import { type Zone, zoneOf } from './zone.ts';

/** The times of a schedule, in milliseconds since 1970. */
export interface DueTimes {
  /** The first time after another one; undefined if there is none. */
  next(after: number): number | undefined;
  /** The latest time at or before another one; undefined if there is none. */
  latest(atMost: number): number | undefined;
}

const [second, hour] = [1_000, 3_600_000];

/**
 * The times of a cron expression. A time in the gap of a zone whose clocks go forward comes once, at the end of the gap. In
 * an hour that comes twice, a pattern with `*` for the hour goes on, and any other comes at the first of both times. Throws
 * `TypeError`, with the reason, for one that has no times.
 */
export function dueTimes(cron: string, timezone: string): DueTimes {
  const zone = zoneOf(timezone);
  const pattern = readCron(cron);
  const goesOn = isEveryHour(cron);
  const next = (after: number) => nextTime(pattern, zone, goesOn, after);
  if (next(Date.now()) === undefined)
    throw new TypeError(`The cron expression "${cron}" names no time that ever comes`);
  return { next, latest: (atMost) => latestTime(pattern, zone, next, atMost) };
}

/** Goes from one change of the clocks to the next: between them, a time on the wall is one moment. */
function nextTime(pattern: Cron, zone: Zone, goesOn: boolean, after: number): number | undefined {
  // A time at the beginning of a stretch belongs to it.
  let wall = after + zone.offset(after);
  for (let at = after; ; ) {
    const offset = zone.offset(at);
    const found = pattern.nextRun(new Date(wall))?.getTime();
    if (found === undefined) return undefined;
    const change = zone.changeAfter(at);
    if (found < change.at + offset) {
      const repeatedUntil = goesOn ? 0 : zone.repeatedUntil(found - offset);
      if (found - offset >= repeatedUntil) return found - offset;
      at = repeatedUntil;
    } else {
      if (found < change.at + change.offset) return change.at;
      // Of months without a time, only the last day is looked at.
      at = Math.max(change.at, found - offset - 27 * hour);
    }
    wall = at + zone.offset(at) - second;
  }
}

function latestTime(pattern: Cron, zone: Zone, next: DueTimes['next'], atMost: number): number | undefined {
  const wall = atMost + zone.offset(atMost);
  // The library looks before a whole second.
  let [found] = pattern.previousRuns(1, new Date(wall + second));
  if (found && found.getTime() > wall) [found] = pattern.previousRuns(1, found);
  if (!found) return undefined;
  const about = found.getTime() - zone.offset(found.getTime() - zone.offset(atMost));
  // What the clocks skip or repeat is no further away than they are set.
  let latest: number | undefined;
  for (
    let time = next(zone.before(Math.min(about, atMost)));
    time !== undefined && time <= atMost;
    time = next(time)
  )
    latest = time;
  return latest;
}

/** Whether a pattern has `*` for the hour. */
function isEveryHour(cron: string): boolean {
  const fields = cron.trim().split(/\s+/);
  return fields.length === 1 ? fields[0] === '@hourly' : fields[fields.length > 5 ? 2 : 1] === '*';
}

/** The times of a pattern on a wall that knows no change of clocks: as if they were of UTC. */
function readCron(cron: string): Cron {
  // The library takes a single date as well.
  const isPattern = typeof cron === 'string' && (/^@\w+$/.test(cron) || /\S\s+\S/.test(cron));
  try {
    if (isPattern) return new Cron(cron, { paused: true, timezone: 'UTC' });
  } catch (error) {
    const reason = (error as Error).message.replace(/^\w+: /, '');
    throw new TypeError(`The cron expression "${cron}" cannot be read: ${reason}`, { cause: error });
  }
  throw new TypeError(
    `A cron expression has five fields, or six with seconds, or is a nickname such as @daily, and ${JSON.stringify(cron)} is neither`,
  );
}
