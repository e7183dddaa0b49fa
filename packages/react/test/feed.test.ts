import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { feedOf } from '../src/feeds/feed.ts';
import { Shared } from '../src/feeds/shared.ts';

function counter() {
  const runs: AbortSignal[] = [];
  const feed = feedOf(0, (signal) => void runs.push(signal));
  return { ...feed, runs, count: () => feed.set(feed.get() + 1) };
}

const running = ({ runs }: ReturnType<typeof counter>) => runs.map(({ aborted }) => !aborted);

describe('a feed', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('works from its first subscriber to its last one, and again later', () => {
    const feed = counter();
    expect(running(feed)).toEqual([]);
    const first = feed.subscribe(() => {});
    const second = feed.subscribe(() => {});
    first();
    vi.runAllTimers();
    expect(running(feed)).toEqual([true]);
    second();
    vi.runAllTimers();
    expect(running(feed)).toEqual([false]);
    feed.subscribe(() => {});
    expect(running(feed)).toEqual([false, true]);
  });

  it('goes on where its only subscriber leaves and comes back at once, as in strict mode', () => {
    const feed = counter();
    feed.subscribe(() => {})();
    feed.subscribe(() => {});
    vi.runAllTimers();
    expect(running(feed)).toEqual([true]);
  });

  it('does not mind a subscriber that leaves twice', () => {
    const feed = counter();
    const leave = feed.subscribe(() => {});
    leave();
    leave();
    vi.runAllTimers();
    leave();
    vi.runAllTimers();
    expect(running(feed)).toEqual([false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('notifies those that are subscribed of each value, and those that left of none', () => {
    const feed = counter();
    const seen: string[] = [];
    const leave = feed.subscribe(() => {
      seen.push(`a${feed.get()}`);
      if (feed.get() === 2) leave();
    });
    feed.subscribe(() => seen.push(`b${feed.get()}`));
    for (let n = 0; n < 3; n += 1) feed.count();
    expect(seen).toEqual(['a1', 'b1', 'a2', 'b2', 'b3']);
  });
});

describe('values that are shared', () => {
  afterEach(() => void vi.unstubAllGlobals());

  it('are forgotten where nothing holds them, and made again', () => {
    let asked = 0;
    const gone = new Set<object>();
    vi.stubGlobal(
      'WeakRef',
      class<Value extends object> {
        readonly #value: Value;
        constructor(value: Value) {
          this.#value = value;
        }
        deref(): Value | undefined {
          asked += 1;
          return gone.has(this.#value) ? undefined : this.#value;
        }
      },
    );
    const shared = new Shared<{ readonly n: number }>();
    const make = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => shared.get(`k${from + n}`, () => ({ n: from + n })));
    const values = make(0, 99);
    for (const value of values.slice(10)) gone.add(value);
    expect(shared.all()).toEqual(values.slice(0, 10));
    expect(shared.get('k50', () => ({ n: -1 }))).toEqual({ n: -1 });
    // Only a hundred of them are looked through.
    asked = 0;
    expect(shared.all()).toHaveLength(11);
    expect(asked).toBe(99);
    make(99, 100);
    asked = 0;
    expect(shared.all()).toHaveLength(12);
    expect(asked).toBe(12);
  });
});
