import { setTimeout as pause } from 'node:timers/promises';

/** Texts of 48 bytes that say when they were made, on the clock that all processes of a machine share, in nanoseconds. */
export async function* produced(count: number, everyMs: number): AsyncGenerator<string> {
  const start = performance.now();
  for (let n = 0; n < count; n++) {
    await pause(Math.max(0, start + n * everyMs - performance.now()));
    yield `${n} ${process.hrtime.bigint()} `.padEnd(48, '.');
  }
}
