import { Cron } from 'croner';

/** The times of a schedule, in milliseconds since 1970. */
export interface DueTimes {
  /** The first time after another one; undefined if there is none. */
  next(after: number): number | undefined;
  /** The latest time at or before another one; undefined if there is none. */
  latest(atMost: number): number | undefined;
}

/** The times of a cron expression. Throws `TypeError`, with the reason, for one that has no times. */
export function dueTimes(cron: string, timezone: string): DueTimes {
  mustBeTimezone(timezone);
  const times = readCron(cron, timezone);
  const next = (after: number) => times.nextRun(new Date(after))?.getTime();
  if (next(Date.now()) === undefined)
    throw new TypeError(`The cron expression "${cron}" names no time that ever comes`);
  return {
    next,
    latest(atMost) {
      // The library looks before a whole second.
      const [found] = times.previousRuns(1, new Date(atMost + 1_000));
      const time = found?.getTime();
      return time === undefined || time <= atMost ? time : times.previousRuns(1, found)[0]?.getTime();
    },
  };
}

function readCron(cron: string, timezone: string): Cron {
  // The library takes a single date as well.
  const isPattern = typeof cron === 'string' && (/^@\w+$/.test(cron) || /\S\s+\S/.test(cron));
  try {
    if (isPattern) return new Cron(cron, { paused: true, timezone });
  } catch (error) {
    const reason = (error as Error).message.replace(/^\w+: /, '');
    throw new TypeError(`The cron expression "${cron}" cannot be read: ${reason}`, { cause: error });
  }
  throw new TypeError(
    `A cron expression has five fields, or six with seconds, or is a nickname such as @daily, and ${JSON.stringify(cron)} is neither`,
  );
}

function mustBeTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw new TypeError(`There is no time zone "${timezone}": it is a name such as Europe/Berlin`);
  }
}
