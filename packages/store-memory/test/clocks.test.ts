import { expect, it } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { memoryStore } from '../src/index.ts';

it.each([11_000, 3_600_000, -3_600_000])(
  'a lease lives as long as it should when the wall clock is set by %i ms',
  async (step) => {
    let now = Date.UTC(2026, 0, 1);
    let monotonic = 0;
    const store = memoryStore({ now: () => now, monotonic: () => monotonic });
    const claim = (holder: string, isKept?: (holder: string) => boolean) =>
      store.claim({ queue: 'q', holder, ttlMs: 1_000, limit: 1, isKept });
    await store.commit(chunkAfter(0, { turn: { queue: 'q', acquire: { holder: 'a', ttlMs: 1_000 } } }));
    now += step;
    monotonic += 999;
    expect(await claim('b')).toEqual([]);
    monotonic += 1;
    expect(await claim('b', (holder) => holder === 'a')).toEqual([]);
    expect(await claim('b')).toMatchObject([{ taskId: 't', fence: 2, cause: 'expired' }]);
  },
);

it('a queue is measured in everything', async () => {
  const store = memoryStore();
  expect(store.system).toBe('memory');
  expect(await store.measure!('q')).toEqual({
    waiting: 0,
    postponed: 0,
    questions: {},
    undelivered: 0,
    dead: 0,
  });
});
