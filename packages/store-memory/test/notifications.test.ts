import type { PushConfigStore, TaskStore } from '@batonjs/store';
import type { Topic } from '@batonjs/store/adapter';
import { describe, expect, it } from 'vitest';
import { chunkAfter } from '../../../test/kit/task-logs.ts';
import { memoryStore } from '../src/index.ts';

const push = {
  scope: 's',
  taskId: 't',
  id: 'w',
  config: { id: 'w', taskId: 't', url: 'https://example.com' },
  protocolVersion: '1.0',
  queue: 'q',
  cursor: 0,
};
const deliveries = { queue: 'q', holder: 'h', ttlMs: 1_000, limit: 9 };

/** The store of a task `t` of the queue `q`, and what its subscribers are told. */
async function subscribed(store: TaskStore & PushConfigStore = memoryStore()) {
  const told: string[] = [];
  const tell = (topic: Topic, name: string) =>
    store.subscribe(topic, (version) => void told.push(version === undefined ? name : `${name} ${version}`));
  await tell({ scope: 's', taskId: 't' }, 'task');
  await tell({ queue: 'q' }, 'queue');
  const toldBy = async (act: () => unknown) => {
    told.length = 0;
    await act();
    return [...told];
  };
  return { store, toldBy };
}

describe('subscribers of a memory store', () => {
  it('are notified of what can be read or claimed, and of nothing else', async () => {
    const { store, toldBy } = await subscribed();
    const commit = (version: number, more = {}) => store.commit(chunkAfter(version, more));
    expect(await toldBy(() => commit(0, { turn: { queue: 'q' } }))).toEqual(['task 1']);
    expect(await toldBy(() => commit(1, { turn: { queue: 'q', want: true } }))).toEqual(['task 2', 'queue']);
    const [lease] = await store.claim({ queue: 'q', holder: 'h', ttlMs: 1_000, limit: 1 });
    expect(await toldBy(() => store.renew([lease!], 1_000))).toEqual([]);
    const release = { facts: [], head: undefined, writer: lease, turn: { queue: 'q', release: true } };
    expect(await toldBy(() => commit(2, release))).toEqual([]);
  });

  it('are notified of deliveries that can be claimed, and not of those that were', async () => {
    const { store, toldBy } = await subscribed();
    expect(await toldBy(() => store.putPushConfig(push))).toEqual([]);
    expect(await toldBy(() => store.commit(chunkAfter(0)))).toEqual(['queue', 'task 1']);
    expect(await toldBy(() => store.claimDeliveries(deliveries))).toEqual([]);
    expect(await toldBy(() => store.commit(chunkAfter(1)))).toEqual(['task 2']);
  });

  it('are not notified once the store is closed, which refuses calls then', async () => {
    const { store, toldBy } = await subscribed();
    await store.close();
    const refused = () => expect(store.commit(chunkAfter(0))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await toldBy(refused)).toEqual([]);
  });
});

describe('a memory store', () => {
  it('keeps schedules, and refuses a task beyond those that may wait', async () => {
    const store = memoryStore();
    expect(store.schedules).toBe(true);
    const turn = { queue: 'q', want: true, waitingAtMost: 1 };
    await store.commit(chunkAfter(0, { turn }));
    await expect(store.commit(chunkAfter(0, { taskId: 'u', turn }))).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
  });

  it('without clocks of its own goes by those of the process', async () => {
    const store = memoryStore();
    await store.commit(chunkAfter(0, { turn: { queue: 'q', acquire: { holder: 'h', ttlMs: 60_000 } } }));
    expect(await store.claim({ queue: 'q', holder: 'other', ttlMs: 1_000, limit: 1 })).toEqual([]);
    const before = performance.now();
    const rate = { burst: 1, everyMs: 60_000 };
    expect(await store.take!('b', rate)).toBe(0);
    const waitMs = await store.take!('b', rate);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    expect(waitMs).toBeGreaterThanOrEqual(60_000 - (performance.now() - before) - 1);
  });

  it('refuses a delivery that its holder claimed before the webhook was replaced, and claimed again', async () => {
    const store = memoryStore();
    await store.commit(chunkAfter(0));
    await store.putPushConfig(push);
    const claim = async () => (await store.claimDeliveries(deliveries))[0]!;
    const stale = await claim();
    await store.putPushConfig(push);
    const current = await claim();
    expect(current.fence).toBeGreaterThan(stale.fence);
    expect(await store.advance(stale, { cursor: 1 })).toBe(false);
    expect(await store.advance(current, { cursor: 0 })).toBe(true);
    // It was given back: the right is gone, though no other delivery began.
    expect(await store.advance(current, { cursor: 1 })).toBe(false);
  });
});
