import { describe, expect, it } from 'vitest';
import { LinkedList } from '../../../src/base/linked-list.ts';
import { systemClock } from '../../../src/base/timing/clock.ts';
import { LazyAbort } from '../../../src/base/timing/deadline-timers.ts';
import { atMost, bounded, boundedUntil } from '../../../src/base/timing/within-deadline.ts';

/** A clock whose sleeps end when they are told to. */
function stoppedClock() {
  const sleeps: {
    readonly ms: number;
    readonly end: () => void;
    readonly signal?: AbortSignal | undefined;
  }[] = [];
  const sleep = (ms: number, signal?: AbortSignal) =>
    new Promise<void>((end) => {
      sleeps.push({ ms, end, signal });
      signal?.addEventListener('abort', () => end());
    });
  let time = 100;
  const clock = { ...systemClock, monotonic: () => time, sleep };
  const pass = async (ms: number) => {
    time += ms;
    for (const { end } of sleeps.splice(0)) end();
    await new Promise(setImmediate);
  };
  return { clock, sleeps, pass };
}
const late = { code: 'UNAVAILABLE' };

describe('a list', () => {
  it('has its items in the order of arrival, whichever are removed', () => {
    const list = new LinkedList<string>();
    expect([list.first, list.size, [...list]]).toEqual([undefined, 0, []]);
    list.removeFirst();
    const nodes = ['a', 'b', 'c', 'd'].map((item) => list.add(item));
    const is = () => [list.first, list.size, [...list].join('')];
    expect(is()).toEqual(['a', 4, 'abcd']);
    list.remove(nodes[1]!);
    list.remove(nodes[1]!);
    expect(is()).toEqual(['a', 3, 'acd']);
    list.remove(nodes[3]!);
    list.add('e');
    expect(is()).toEqual(['a', 3, 'ace']);
    list.removeFirst();
    expect(is()).toEqual(['c', 2, 'ce']);
    list.removeFirst();
    list.removeFirst();
    expect(is()).toEqual([undefined, 0, '']);
    list.add('f');
    expect(is()).toEqual(['f', 1, 'f']);
    expect(nodes[1]).toEqual({ item: undefined, before: undefined, after: undefined });
  });
});

describe('a lazy abort', () => {
  it('has its first reason, before and after its signal is read', () => {
    for (const isReadFirst of [true, false]) {
      const lazy = new LazyAbort();
      expect(lazy.aborted).toBe(false);
      lazy.throwIfAborted();
      if (isReadFirst) expect(lazy.signal.aborted).toBe(false);
      lazy.abort('one');
      lazy.abort('two');
      expect([lazy.aborted, lazy.signal.aborted, lazy.signal.reason]).toEqual([true, true, 'one']);
      expect(lazy.signal).toBe(lazy.signal);
      expect(() => lazy.throwIfAborted()).toThrow('one');
    }
  });
});

describe('a wait of so many milliseconds at most', () => {
  /** Waits until its signal is aborted. */
  const untilEnd = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve());
    });

  it('ends when its time is over, when nobody is interested, or by itself, and lets its timer go', async () => {
    const { clock, sleeps, pass } = stoppedClock();
    const interest = new AbortController();
    const over = atMost(70, interest.signal, clock, untilEnd);
    expect(sleeps.map(({ ms }) => ms)).toEqual([70]);
    await pass(70);
    await over;
    const left = atMost(70, interest.signal, clock, untilEnd);
    interest.abort();
    await left;
    expect(sleeps.at(-1)!.signal!.aborted).toBe(true);
    await atMost(70, interest.signal, clock, untilEnd);
    await atMost(70, new AbortController().signal, clock, async () => {});
    expect(sleeps.at(-1)!.signal!.aborted).toBe(true);
    const error = new Error('x');
    await expect(atMost(70, interest.signal, clock, () => Promise.reject(error))).rejects.toBe(error);
  });
});

describe('a call of a store', () => {
  it('until a time rejects when that has come, and lets its timer go when it is answered', async () => {
    const { clock, sleeps, pass } = stoppedClock();
    expect(await boundedUntil(async () => 7, Number.POSITIVE_INFINITY, clock)).toBe(7);
    expect(sleeps).toEqual([]);
    expect(await boundedUntil(async () => 8, 150, clock)).toBe(8);
    expect([sleeps[0]!.ms, sleeps[0]!.signal!.aborted]).toEqual([50, true]);
    await pass(0);
    const never = boundedUntil(() => new Promise(() => {}), 50, clock);
    expect(sleeps[0]!.ms).toBe(0);
    const refused = expect(never).rejects.toMatchObject({
      ...late,
      message: 'The store did not answer in time',
    });
    await pass(1);
    await refused;
  });

  it('of so many milliseconds is told of, however it ends', async () => {
    const { clock, pass } = stoppedClock();
    const told: unknown[] = [];
    const watch = {
      answered: () => told.push('answered'),
      failed: (error: Error) => told.push(error.message),
    };
    const lates: unknown[] = [];
    const call = <T>(given: Promise<T>) =>
      bounded(given, 30, clock, (value) => lates.push(value), watch as never);
    expect(await call(Promise.resolve(1))).toBe(1);
    await expect(call(Promise.reject(new Error('no')))).rejects.toThrow('no');
    const slow = Promise.withResolvers<number>();
    const failing = Promise.withResolvers<number>();
    const refused = [slow, failing].map(({ promise }) => expect(call(promise)).rejects.toMatchObject(late));
    await pass(30);
    await Promise.all(refused);
    slow.resolve(2);
    failing.reject(new Error('much later'));
    await new Promise(setImmediate);
    const message = 'The store did not answer within 30 ms';
    expect([told, lates]).toEqual([['answered', 'no', message, message], [2]]);
    const plain = bounded(slow.promise, 30, clock);
    expect(await plain).toBe(2);
  });
});
