import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/index.ts';
import { freshPath } from '../folder.ts';
import { chunk, commitOf, create } from '../logs.ts';

const claim = (holder: string) => ({ queue: 'q', holder, ttlMs: 1_000, limit: 10 });
const acquire = { turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 1_000 } } };
const day = 86_400_000;

/** Clocks that a test sets. `open` opens the same file once more. */
function clocks() {
  const path = freshPath();
  const time = { now: Date.UTC(2026, 0, 1), monotonic: day };
  const open = () => {
    const store = sqliteStore(path, { now: () => time.now, monotonic: () => time.monotonic });
    onTestFinished(() => store.close());
    return store;
  };
  return { time, open, store: open() };
}

describe('a lease', () => {
  it.each([11_000, 3_600_000, -3_600_000])(
    'lives as long as it should when the wall clock is set by %i ms',
    async (step) => {
      const { time, store } = clocks();
      await create(store, 't', acquire);
      time.now += step;
      time.monotonic += 999;
      expect(await store.claim(claim('b'))).toEqual([]);
      time.monotonic += 1;
      expect(await store.claim(claim('b'))).toMatchObject([{ taskId: 't', fence: 2, cause: 'expired' }]);
    },
  );

  it('that was renewed counts from then', async () => {
    const { time, store } = clocks();
    const { lease } = await create(store, 't', acquire);
    time.monotonic += 900;
    await store.renew([lease!], 1_000);
    time.monotonic += 900;
    expect(await store.claim(claim('b'))).toEqual([]);
  });

  it('is over when the host was started again since, however long it ran before', async () => {
    const { time, store, open } = clocks();
    await create(store, 't', acquire);
    await create(store, 'free', { turn: { queue: 'q', want: true } });
    await store.close();
    time.monotonic = 5_000;
    const claimed = await open().claim(claim('b'));
    expect(claimed.map(({ taskId, cause }) => [taskId, cause]).toSorted()).toEqual([
      ['free', 'wanted'],
      ['t', 'expired'],
    ]);
  });

  it('of an earlier start lives no longer than a new one, if this start has reached its time', async () => {
    const { time, store, open } = clocks();
    await create(store, 't', acquire);
    await store.close();
    time.monotonic += 1;
    const again = open();
    expect(await again.claim(claim('b'))).toEqual([]);
    time.monotonic += 999;
    expect(await again.claim(claim('b'))).toMatchObject([{ cause: 'expired' }]);
  });

  it('that its holder renews is not given to that holder, though its time is up', async () => {
    const { time, store } = clocks();
    await create(store, 't', acquire);
    await create(store, 'u', { turn: { queue: 'q', acquire: { holder: 'dead', ttlMs: 1_000 } } });
    time.monotonic += 5_000;
    const claimed = await store.claim({ ...claim('b'), isKept: (holder) => holder === 'a' });
    expect(claimed.map(({ taskId }) => taskId)).toEqual(['u']);
  });
});

it('a deadline goes by the wall clock', async () => {
  const { time, store } = clocks();
  const { version } = await create(store, 't', { turn: { queue: 'q' } });
  const commit = commitOf('t', version, [chunk(1)]);
  const dueAt = new Date(time.now + 60_000).toISOString();
  await store.commit({ ...commit, head: { ...commit.head!, dueAt } });
  time.monotonic += 3_600_000;
  expect(await store.claim(claim('b'))).toEqual([]);
  time.now += 60_000;
  expect(await store.claim(claim('b'))).toMatchObject([{ cause: 'due' }]);
});

it.each([1, 720])(
  'a turn of a schedule that a process %i hours ahead stored starts in others',
  async (hours) => {
    const { time, open, store } = clocks();
    const order = { turn: { queue: 'q', want: true, aheadMs: 0 } };
    time.now += hours * 3_600_000;
    await create(store, 'ahead', order);
    time.now -= hours * 3_600_000;
    const other = open();
    await create(other, 'right', order);
    const claimed = await other.claim({ ...claim('b'), schedule: { perCaller: 9 } });
    expect(claimed.map(({ taskId }) => taskId).toSorted()).toEqual(['ahead', 'right']);
  },
);
