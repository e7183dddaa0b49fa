import { onTestFinished, vi } from 'vitest';

/** Timers that fire when a test says so, and a clock that stands still. */
export interface HeldTimers {
  /** Those that are open, the shortest first: their milliseconds, and `held` if they keep the process alive. */
  open(): string[];
  /** Lets all open ones of so many milliseconds fire. Throws if there is none. */
  fire(ms: number): void;
  /** Lets so many milliseconds of `performance.now()` pass. No timer fires. */
  pass(ms: number): void;
}

interface HeldTimer {
  readonly ms: number;
  readonly handle: NodeJS.Timeout;
  readonly isRepeated: boolean;
  readonly act: () => void;
}

const later = 2 ** 31 - 1;

/**
 * Holds the timers of these durations, and the clock, until the test ends. All other timers run as usual. The file needs a
 * process of its own: see `alone` in `vitest.config.ts`.
 */
export function holdTimers(isHeld: (ms: number) => boolean): HeldTimers {
  const timers = new Set<HeldTimer>();
  // Whole milliseconds: sums of them are exact.
  let now = Math.floor(performance.now());
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const begin = (original: typeof setTimeout, isRepeated: boolean) =>
    ((act: () => void, ms = 0, ...rest: []) => {
      if (!isHeld(ms)) return original(act, ms, ...rest);
      const handle = original(() => {}, later);
      timers.add({ ms, handle, isRepeated, act });
      return handle;
    }) as unknown as typeof setTimeout;
  const end =
    (original: typeof clearTimeout) =>
    (handle: NodeJS.Timeout): void => {
      for (const timer of timers) if (timer.handle === handle) timers.delete(timer);
      original(handle);
    };
  const replaced = {
    setTimeout: begin(setTimeout, false),
    setInterval: begin(setInterval as never, true) as never,
    clearTimeout: end(clearTimeout) as typeof clearTimeout,
    clearInterval: end(clearInterval) as typeof clearInterval,
  };
  const spies = [
    ...Object.entries(replaced).map(([name, act]) =>
      vi.spyOn(globalThis, name as 'setTimeout').mockImplementation(act as never),
    ),
    vi.spyOn(performance, 'now').mockImplementation(() => now),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    for (const { handle } of timers) clearTimeout(handle);
  });
  return {
    open: () =>
      [...timers]
        .sort((one, other) => one.ms - other.ms)
        .map(({ ms, handle }) => `${ms}${handle.hasRef() ? ' held' : ''}`),
    fire(ms) {
      const due = [...timers].filter((timer) => timer.ms === ms);
      if (due.length === 0) throw new Error(`No timer of ${ms} ms is open`);
      for (const timer of due) {
        if (!timer.isRepeated) globalThis.clearTimeout(timer.handle);
        timer.act();
      }
    },
    pass(ms) {
      now += ms;
    },
  };
}
