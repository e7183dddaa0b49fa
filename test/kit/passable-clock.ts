import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '@batonjs/server/internals';

/** The system's clock, with which sleeps of 10 s and more end only when `pass` lets so many milliseconds pass. */
export function passableClock(): {
  readonly clock: Pick<Clock, 'now' | 'sleep'>;
  readonly pass: (ms: number) => void;
} {
  let passed = 0;
  const now = () => Date.now() + passed;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms < 10_000
      ? pause(ms, undefined, { signal, ref: false }).catch(() => {})
      : new Promise<void>((resolve) => {
          const sleeper = {
            until: now() + ms,
            wake() {
              sleepers.delete(sleeper);
              resolve();
            },
          };
          sleepers.add(sleeper);
          signal?.addEventListener('abort', sleeper.wake);
          if (signal?.aborted) sleeper.wake();
        });
  const pass = (ms: number) => {
    passed += ms;
    for (const sleeper of [...sleepers]) if (sleeper.until <= now()) sleeper.wake();
  };
  return { clock: { now, sleep }, pass };
}
