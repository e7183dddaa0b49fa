import type { RecordedSchedule } from './schedule-record.ts';

/**
 * Up to where the due times of a schedule are done with, in milliseconds since 1970. A time beyond now is only true where
 * tasks were started up to it, one after the other: by a clock that was set back since. What a clock that was ahead passed
 * over, or began with, has not come yet.
 */
export function throughAt({ since, through, passed }: RecordedSchedule, now: number): number {
  const end = Date.parse(through);
  if (end <= now) return end;
  if (Date.parse(since) > now) return now;
  return passed && Date.parse(passed.to) > now ? Math.min(Date.parse(passed.after), now) : end;
}
