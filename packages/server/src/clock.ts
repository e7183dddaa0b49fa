import { pause } from '@batonjs/store';

/** Where time and chance come from; a test may decide both. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic: () => number;
  /** Resolves after so many milliseconds, or when aborted. Keeps no process alive. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  sleep: pause,
  random: Math.random,
};

let latest = { ms: 0, text: new Date(0).toISOString() };

/** ISO 8601, UTC, milliseconds. Remembers the last, because much happens in the same millisecond. */
export function isoTime(ms: number): string {
  if (latest.ms !== ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

/**
 * A fresh unguessable id: a UUID of version 7. It begins with the time, so that what is new lies close together in a
 * store's indexes. Its chance is the clock's where that is not the system's.
 */
export function newId({ now, random }: Clock): string {
  const time = now().toString(16).padStart(12, '0');
  const chance = random === Math.random ? crypto.randomUUID().slice(15) : chanceOf(random);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${chance}`;
}

/** Laid out like the rest of a UUID: `xxx-yxxx-xxxxxxxxxxxx`. */
function chanceOf(random: () => number): string {
  const digits = () =>
    Math.floor(random() * 0x100_0000)
      .toString(16)
      .padStart(6, '0');
  const [a, b, c, d] = [digits(), digits(), digits(), digits()];
  return `${a.slice(0, 3)}-8${a.slice(3)}-${b}${c.slice(0, 3)}${d.slice(0, 3)}`;
}
