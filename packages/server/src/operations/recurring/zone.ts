const [second, hour] = [1_000, 3_600_000];
/** Clocks are not set twice within so many milliseconds. */
const onceWithin = 25 * hour;

/** A change of the clocks: what the clocks show from then on is `offset` ahead of UTC. In milliseconds. */
interface ClockChange {
  readonly at: number;
  readonly offset: number;
}

export type Zone = ReturnType<typeof zoneOf>;

/** The clocks of a time zone. Times are milliseconds since 1970. Throws `TypeError` for one that does not exist. */
export function zoneOf(timezone: string) {
  const format = formatOf(timezone);
  /** How far its clocks are ahead of UTC. */
  const offset = (at: number): number => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] =
      /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(format.format(at)) ?? [];
    const ms = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * second;
    return sign === '-' ? -ms : ms;
  };
  /** The next change of the clocks; if there is none within 25 hours, the time in 25 hours, as if one were there. */
  const changeAfter = (from: number): ClockChange => {
    let before = Math.floor(from / second) * second;
    let at = before + onceWithin;
    const [old, next] = [offset(before), offset(at)];
    while (next !== old && at - before > second) {
      const middle = Math.floor((before + at) / 2 / second) * second;
      if (offset(middle) === old) before = middle;
      else at = middle;
    }
    return { at, offset: next };
  };
  return {
    offset,
    changeAfter,
    /** Until when the clocks show what they have shown before; 0 if they do not. */
    repeatedUntil(at: number): number {
      const change = changeAfter(at - onceWithin);
      const setBackBy = offset(at - onceWithin) - change.offset;
      return change.at <= at && setBackBy > 0 ? change.at + setBackBy : 0;
    },
    /** A time before another one, by more than the clocks are set around it. */
    before(at: number): number {
      const around = [at - onceWithin, at, at + onceWithin].map(offset);
      return at - second - (Math.max(...around) - Math.min(...around));
    },
  };
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  } catch {
    throw new TypeError(`There is no time zone "${timezone}": it is a name such as Europe/Berlin`);
  }
}
