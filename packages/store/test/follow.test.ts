import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type FollowOptions, follow, pause, type StoredFact, type TaskStore } from '../src/index.ts';
import { append, create } from './a-log.ts';

const never = { lookEveryMs: Number.POSITIVE_INFINITY };

/** Reads until a position and leaves. */
async function readUntil(facts: AsyncIterable<StoredFact>, until: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const { version } of facts) {
    seen.push(version);
    if (version === until) break;
  }
  return seen;
}

/** Counts what is watched and read. */
function counting(store: TaskStore) {
  const counts = { watching: 0, reads: 0 };
  const counted: TaskStore = {
    ...store,
    async subscribe(topic, notify) {
      const unsubscribe = await store.subscribe(topic, notify);
      counts.watching++;
      return async () => {
        counts.watching--;
        await unsubscribe();
      };
    },
    readFacts(...args) {
      counts.reads++;
      return store.readFacts(...args);
    },
  };
  return { store: counted, counts };
}

/** The signal of a controller, and how many listeners it has. */
function listened({ signal }: AbortController) {
  const listening: [type: string, listener: unknown][] = [];
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    listening.push([type, listener]);
    add(type, listener);
  };
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    const at = listening.findIndex(([known, one]) => known === type && one === listener);
    if (at >= 0) listening.splice(at, 1);
    remove(type, listener);
  };
  return { signal, listening: () => listening.length };
}

describe('follow', () => {
  it('shows what is there after a position, then what comes', async () => {
    const store = memoryStore();
    await create(store);
    await append(store, 3);
    const reading = readUntil(follow(store, 's', 't', 1, never), 8);
    for (let n = 0; n < 3; n++) await append(store, 1);
    expect(await reading).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });

  it('waits for a log that is not there yet', async () => {
    const store = memoryStore();
    const reading = readUntil(follow(store, 's', 't', 0, never), 2);
    await pause(0);
    await create(store);
    expect(await reading).toEqual([1, 2]);
  });

  it('misses nothing that is committed between watching and reading', async () => {
    const store = memoryStore();
    await create(store);
    let reads = 0;
    const late: TaskStore = {
      ...store,
      async readFacts(...args) {
        const facts = await store.readFacts(...args);
        if (reads++ < 3) await append(store, 1);
        return facts;
      },
    };
    expect(await readUntil(follow(late, 's', 't', 2, never), 5)).toEqual([3, 4, 5]);
  });

  it('reads in batches', async () => {
    const { store, counts } = counting(memoryStore());
    await create(store);
    await append(store, 8);
    expect(await readUntil(follow(store, 's', 't', 0, { ...never, batch: 3 }), 10)).toHaveLength(10);
    expect(counts.reads).toBe(4);
  });

  it('looks by itself when the bell is silent', async () => {
    const silent: TaskStore = { ...memoryStore(), subscribe: async () => () => {} };
    await create(silent);
    const slept: number[] = [];
    const sleep: FollowOptions['sleep'] = async (ms) => {
      slept.push(ms);
      await append(silent, 1);
    };
    expect(await readUntil(follow(silent, 's', 't', 2, { lookEveryMs: 700, sleep }), 4)).toEqual([3, 4]);
    expect(slept).toEqual([700, 700]);
  });

  it('ends what it sleeps by when it was notified, and never sleeps if it is never to look', async () => {
    const store = memoryStore();
    await create(store);
    const slept: AbortSignal[] = [];
    const asleep = Promise.withResolvers<void>();
    const sleep: FollowOptions['sleep'] = (_, signal) => {
      slept.push(signal!);
      asleep.resolve();
      return new Promise(() => {});
    };
    const reading = readUntil(follow(store, 's', 't', 2, { lookEveryMs: 700, sleep }), 3);
    await asleep.promise;
    expect(slept.map(({ aborted }) => aborted)).toEqual([false]);
    await append(store, 1);
    await reading;
    expect(slept.map(({ aborted }) => aborted)).toEqual([true]);
    const patient = readUntil(follow(store, 's', 't', 3, { ...never, sleep }), 4);
    await pause(0);
    await append(store, 1);
    expect(await patient).toEqual([4]);
    expect(slept).toHaveLength(1);
  });

  it.each([
    ['aborted before', (abort: AbortController) => abort.abort()],
    ['aborted while it waits', (abort: AbortController) => void pause(1).then(() => abort.abort())],
  ])('ends when %s, and stops watching', async (_, act) => {
    const { store, counts } = counting(memoryStore());
    await create(store);
    const abort = new AbortController();
    act(abort);
    expect(await readUntil(follow(store, 's', 't', 2, { ...never, signal: abort.signal }), 9)).toEqual([]);
    expect(counts.watching).toBe(0);
  });

  it('shows nothing more of a batch once it is aborted', async () => {
    const store = memoryStore();
    await create(store);
    await append(store, 5);
    const abort = new AbortController();
    const seen: number[] = [];
    for await (const { version } of follow(store, 's', 't', 0, { ...never, signal: abort.signal })) {
      seen.push(version);
      if (version === 3) abort.abort();
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it('stops watching when its reader leaves or the store fails', async () => {
    const { store, counts } = counting(memoryStore());
    await create(store);
    await readUntil(follow(store, 's', 't', 0, never), 1);
    expect(counts.watching).toBe(0);
    const failing: TaskStore = {
      ...store,
      readFacts: async () => {
        throw new Error('gone');
      },
    };
    await expect(readUntil(follow(failing, 's', 't', 0, never), 1)).rejects.toThrow('gone');
    expect(counts.watching).toBe(0);
  });

  it('leaves no listener on the signal', async () => {
    const store = memoryStore();
    await create(store);
    const abort = new AbortController();
    const { signal, listening } = listened(abort);
    await readUntil(follow(store, 's', 't', 0, { ...never, signal }), 1);
    expect(listening()).toBe(0);
  });
});

describe('pause', () => {
  it.each([
    ['so many milliseconds', 10, 10],
    ['at most as long as a timer can', Number.POSITIVE_INFINITY, 2 ** 31 - 1],
  ])('lasts %s', async (_, ms, expected) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let isOver = false;
    void pause(ms).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(expected - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(true);
  });

  it('leaves no timer and no listener when it is aborted', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const abort = new AbortController();
    const { signal, listening } = listened(abort);
    const paused = pause(3_600_000, signal);
    expect([vi.getTimerCount(), listening()]).toEqual([1, 1]);
    abort.abort();
    await paused;
    expect([vi.getTimerCount(), listening()]).toEqual([0, 0]);
  });

  it('works where timers are numbers, as in browsers', async () => {
    const start = setTimeout;
    vi.stubGlobal('setTimeout', (done: () => void, ms: number) => Number(start(done, ms)));
    onTestFinished(() => void vi.unstubAllGlobals());
    await pause(1);
  });

  it('ends at once when aborted', async () => {
    const abort = new AbortController();
    const paused = pause(3_600_000, abort.signal);
    abort.abort();
    await paused;
    await pause(Number.POSITIVE_INFINITY, abort.signal);
  });
});
