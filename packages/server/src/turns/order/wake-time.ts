import type { Command, State } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { backoffMs } from '@batonjs/protocol/timing';
import type { Scope } from '@batonjs/store';
import { isoTime } from '../../base/timing/clock.ts';
import { toToken, valuesIn } from '../../base/token.ts';

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

/** Names a task for `server.wake()`. */
export const wakeKeyOf = (scope: Scope, taskId: string): string => toToken(scope, taskId);

/** The task a key names. Throws an `A2AError` of reason `INVALID_PARAMS` if it is not a wake key. */
export function readWakeKey(key: string): { scope: Scope; taskId: string } {
  const [scope, taskId] = valuesIn(key);
  if (typeof scope === 'string' && typeof taskId === 'string') return { scope, taskId };
  throw new A2AError('INVALID_PARAMS', 'This is not a wake key');
}
