import { onTestFinished } from 'vitest';
import type { Feed } from '../src/feeds/feed.ts';

/** Subscribes to a feed until the test ends, and keeps all its values. */
export function watch<Value>(feed: Feed<Value>) {
  const values: Value[] = [feed.get()];
  const listeners = new Set<() => void>();
  const stop = feed.subscribe(() => {
    values.push(feed.get());
    for (const listener of listeners) listener();
  });
  onTestFinished(stop);
  return {
    values,
    stop,
    /** Resolves to the first value from now on that passes. */
    until: (passes: (value: Value) => unknown): Promise<Value> =>
      new Promise((resolve) => {
        const check = () => {
          const value = feed.get();
          if (!passes(value)) return;
          listeners.delete(check);
          resolve(value);
        };
        listeners.add(check);
        check();
      }),
  };
}
