import type { Command, State } from '@batonjs/lifecycle';
import { backoffMs } from '@batonjs/protocol/timing';
import { isoTime } from '../../base/timing/clock.ts';

/** The pauses before the third, fourth, … of turns in a row that ask for one at once, in milliseconds. */
const backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0 };

/**
 * What a turn that asks for another one gets. A time of the past starts it at once, but not again and again: an agent
 * that only ever asks for one would keep a process busy. A message, `server.wake()` and a later time end the pauses. `time`:
 * ISO 8601, UTC, milliseconds; `now`: the wall clock, in milliseconds since 1970.
 */
export function wakeCommand(
  { immediateWakes, openTurn }: Pick<State, 'immediateWakes' | 'openTurn'>,
  time: string | undefined,
  now: number,
): Command & { type: 'set-wake' } {
  if (time === undefined || time > isoTime(now)) return { type: 'set-wake', time };
  // The same turn may ask several times, and after a crash once more.
  const before =
    immediateWakes === undefined
      ? 0
      : immediateWakes.turn === openTurn?.number
        ? immediateWakes.count - 1
        : immediateWakes.count;
  if (before === 0) return { type: 'set-wake', time, immediateWakes: 1 };
  return { type: 'set-wake', time: isoTime(now + backoffMs(before, backoff)), immediateWakes: before + 1 };
}
