import type { Command } from '@batonjs/lifecycle';
import { type StoredFact, StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change, switchable } from '../../../../test/kit/faulty-store.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { Cursor, type Follower, type LogPosition, waitForFact } from '../../src/log/cursor.ts';
import type { LiveTask } from '../../src/log/live-task.ts';
import { decideAll } from '../../src/log/write/decision.ts';
import { write } from '../../src/log/write/write.ts';
import { liveTasks } from './kit/live-tasks.ts';

const at = '2026-01-01T00:00:00.000Z';
const begin: Command[] = [
  {
    type: 'receive',
    message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'go' }] },
  },
  { type: 'create', taskId: 't' },
  { type: 'start-turn' },
];
const working: Command[] = [{ type: 'update', update: { status: { state: 'TASK_STATE_WORKING' } } }];
const end: Command[] = [{ type: 'update', update: { status: { state: 'TASK_STATE_COMPLETED' } } }];

const append = async (live: LiveTask, commands: readonly Command[], times = 1) => {
  for (let n = 0; n < times; n++) await write(live, (state) => decideAll(state, commands, at));
};

/** A task with three facts. */
async function begun(store: TaskStore = memoryStore()) {
  const tasks = liveTasks(store);
  const live = tasks.begin('s', 't');
  await append(live, begin);
  return { store, tasks, live };
}

/** A follower that writes down what it gets. `take` reads on by default. */
function follow(
  live: LiveTask,
  position: LogPosition = { version: 0 },
  { readsOn = true, outlastsOutages = false }: { readsOn?: boolean; outlastsOutages?: boolean } = {},
) {
  const versions: number[] = [];
  const ends: unknown[] = [];
  const abort = new AbortController();
  const follower: Follower = {
    outlastsOutages,
    take(facts: readonly StoredFact[]) {
      versions.push(...facts.map(({ version }) => version));
      if (readsOn) cursor.read();
    },
    end: (error) => void ends.push(error),
  };
  const cursor = new Cursor(live, position, abort.signal, follower);
  return { cursor, versions, ends, abort };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('a cursor', () => {
  it('gives every fact after its position in order, once each, as soon as it is committed', async () => {
    const { live } = await begun();
    const { cursor, versions, ends } = follow(live, { version: 1 });
    cursor.read();
    expect(versions).toEqual([2, 3]);
    await append(live, working, 2);
    expect(versions).toEqual([2, 3, 4, 5]);
    expect(ends).toEqual([]);
  });

  it('gives facts once for each read, and none without one', async () => {
    const { live } = await begun();
    const { cursor, versions } = follow(live, { version: 3 }, { readsOn: false });
    await append(live, working);
    expect(versions).toEqual([]);
    cursor.read();
    await append(live, working, 2);
    expect(versions).toEqual([4]);
    cursor.read();
    expect(versions).toEqual([4, 5, 6]);
  });

  it('reads from the store what the live task no longer keeps', async () => {
    const { live } = await begun();
    const { cursor, versions, ends } = follow(live);
    await append(live, working, 600);
    expect(live.recent.after(0)).toBeUndefined();
    cursor.read();
    await eventually(() => expect(versions).toHaveLength(603));
    await append(live, working);
    expect(versions).toEqual(upTo(604));
    expect(ends).toEqual([]);
  });

  it('gets the facts of another process when the store notifies of them', async () => {
    const { store, live } = await begun();
    const other = await liveTasks(store).open('s', 't');
    await live.subscribe();
    const { cursor, versions } = follow(live, { version: 3 });
    cursor.read();
    await append(other!, working, 3);
    await eventually(() => expect(versions).toEqual([4, 5, 6]));
  });

  it('ends at once without an error when it is aborted, also between reads', async () => {
    const { live } = await begun();
    const reading = follow(live, { version: 3 });
    const idle = follow(live, { version: 0 });
    reading.cursor.read();
    reading.abort.abort();
    idle.abort.abort();
    expect([reading.ends, idle.ends]).toEqual([[undefined], [undefined]]);
    reading.cursor.read();
    await append(live, working);
    expect([reading.versions, reading.ends]).toEqual([[], [undefined]]);
  });

  it('ends at its next read, or the pending one, without an error when the server closes', async () => {
    const { tasks, live } = await begun();
    const reading = follow(live, { version: 3 });
    const idle = follow(live, { version: 0 });
    reading.cursor.read();
    tasks.close();
    expect([reading.ends, idle.ends]).toEqual([[undefined], []]);
    idle.cursor.read();
    expect([idle.versions, idle.ends]).toEqual([[], [undefined]]);
  });

  it('calls nothing any more once it is closed', async () => {
    const { tasks, live } = await begun();
    const { cursor, versions, ends, abort } = follow(live, { version: 3 });
    cursor.read();
    cursor.close();
    await append(live, working);
    abort.abort();
    tasks.close();
    expect([versions, ends]).toEqual([[], []]);
  });

  it('ends with what its follower throws, and harms no other follower', async () => {
    const { live } = await begun();
    const ends: unknown[] = [];
    const broken = new Cursor(live, { version: 3 }, new AbortController().signal, {
      outlastsOutages: false,
      take: () => {
        throw new TypeError('Cannot show it');
      },
      end: (error) => void ends.push(error),
    });
    const { cursor, versions } = follow(live, { version: 3 });
    broken.read();
    cursor.read();
    await append(live, working, 2);
    expect(ends).toEqual([new TypeError('Cannot show it')]);
    expect(versions).toEqual([4, 5]);
  });

  it('ends with LOG_DIVERGED when the store lost facts, whether it waits or lags', async () => {
    const past = memoryStore();
    let store = memoryStore();
    const switching = change(store, {
      readFacts:
        () =>
        (...args) =>
          store.readFacts(...args),
    });
    await begun(past);
    const { live } = await begun(switching);
    await append(live, working, 600);
    const waiting = follow(live, { version: 603 }, { outlastsOutages: true });
    const lagging = follow(live, { version: 40, commitId: 'a commit that the store never held' });
    waiting.cursor.read();
    lagging.cursor.read();
    await eventually(() => expect(lagging.ends).toHaveLength(1));
    store = past;
    await live.tryRefresh();
    expect(live.isDiverged).toBe(true);
    const diverged = [expect.objectContaining({ code: 'LOG_DIVERGED' })];
    expect([waiting.ends, lagging.ends]).toEqual([diverged, diverged]);
    // A sweep, a notification and a request may still ask for more, together: nothing is read, and nothing waits.
    const ask = live.tryRefresh.bind(live);
    let asked = 0;
    live.tryRefresh = () => {
      if (++asked > 10) throw new RangeError('The live task asks itself forever');
      return ask();
    };
    await Promise.all([live.tryRefresh(), live.tryRefresh(), live.tryRefresh()]);
    expect(asked).toBe(3);
  });

  it('ends with LOG_DIVERGED when another commit has the place of the last fact that it read', async () => {
    const other = memoryStore();
    let store = memoryStore();
    const { live: past } = await begun(other);
    await append(past, working, 600);
    const { live } = await begun(
      change(store, {
        readFacts:
          () =>
          (...args) =>
            store.readFacts(...args),
      }),
    );
    await append(live, working, 600);
    const { cursor, versions, ends } = follow(live, { version: 0 }, { readsOn: false });
    cursor.read();
    await eventually(() => expect(versions.length).toBeGreaterThan(0));
    store = other;
    cursor.read();
    await eventually(() => expect(ends).toEqual([expect.objectContaining({ code: 'LOG_DIVERGED' })]));
    expect(versions).toEqual(upTo(versions.length));
  });

  it('gives nothing that it was reading from the store when it was closed', async () => {
    const reads: Promise<unknown>[] = [];
    const store = change(memoryStore(), {
      readFacts:
        (readFacts) =>
        (...args) => {
          const read = readFacts(...args);
          reads.push(read);
          return read;
        },
    });
    const { live } = await begun(store);
    await append(live, working, 600);
    const { cursor, versions, ends } = follow(live);
    cursor.read();
    expect(reads).toHaveLength(1);
    cursor.close();
    await Promise.all(reads);
    await new Promise(setImmediate);
    expect([versions, ends]).toEqual([[], []]);
  });

  it('says nothing of a read that fails after it was closed', async () => {
    const failure = Promise.withResolvers<never>();
    const store = change(memoryStore(), { readFacts: () => () => failure.promise });
    const { live } = await begun(store);
    await append(live, working, 600);
    const { cursor, ends } = follow(live);
    cursor.read();
    cursor.close();
    failure.reject(new StoreError('UNAVAILABLE', 'It is away'));
    await new Promise(setImmediate);
    expect(ends).toEqual([]);
  });

  it('ends with LOG_GAP when the facts that follow were pruned, even if it outlasts outages', async () => {
    const store = change(memoryStore(), {
      readFacts: () => async () => {
        throw new StoreError('LOG_GAP', 'They were pruned');
      },
    });
    const { live } = await begun(store);
    await append(live, working, 600);
    const { cursor, ends } = follow(live, { version: 0 }, { outlastsOutages: true });
    cursor.read();
    await eventually(() => expect(ends).toEqual([expect.objectContaining({ code: 'LOG_GAP' })]));
  });

  it.each([true, false])(
    'ends with an outage of the store unless it outlasts outages: %s',
    async (outlastsOutages) => {
      const outage = switchable(memoryStore());
      const { live } = await begun(outage.store);
      await append(live, working, 600);
      const waiting = follow(live, { version: 603 }, { outlastsOutages });
      const lagging = follow(live, { version: 0 }, { outlastsOutages });
      outage.isDown = true;
      waiting.cursor.read();
      lagging.cursor.read();
      await live.tryRefresh();
      await eventually(() => expect(outage.refused).toBeGreaterThan(outlastsOutages ? 2 : 1));
      outage.isDown = false;
      const ended = [expect.objectContaining({ code: 'UNAVAILABLE' })];
      if (outlastsOutages) {
        await eventually(() => expect(lagging.versions).toEqual(upTo(603)));
        await append(live, working);
      }
      expect(waiting.versions).toEqual(outlastsOutages ? [604] : []);
      expect([waiting.ends, lagging.ends]).toEqual(outlastsOutages ? [[], []] : [ended, ended]);
    },
  );
});

describe('a wait for a fact', () => {
  const isEnd = ({ type, status }: { type: string; status?: { state: string } }) =>
    type === 'status-changed' && status?.state === 'TASK_STATE_COMPLETED';
  const never = new AbortController().signal;

  it('ends at the fact, at its time limit or when aborted, and leaves no listener', async () => {
    const { live } = await begun();
    const { listeners } = live;
    const abort = new AbortController();
    const aborted = waitForFact(live, isEnd, { after: 0, signal: abort.signal });
    const late = waitForFact(live, isEnd, { after: 0, ms: 20, signal: never });
    const ended = waitForFact(live, isEnd, { after: 0, ms: 60_000, signal: never });
    expect(listeners.size).toBe(3);
    abort.abort();
    await aborted;
    await late;
    await append(live, working);
    expect(listeners.size).toBe(1);
    await append(live, end);
    await ended;
    expect(listeners.size).toBe(0);
    await waitForFact(live, isEnd, { after: 0, signal: never });
    expect(listeners.size).toBe(0);
  });

  it('ends no earlier than the task has the fact, where another process wrote it', async () => {
    const { store, live } = await begun();
    await append(live, working, 600);
    const other = (await liveTasks(store).open('s', 't'))!;
    await append(live, end);
    // It was opened on a snapshot: the follower reads the store, which is ahead.
    await waitForFact(other, isEnd, { after: live.version - 100, signal: never });
    expect(other.state.closed).toBe(true);
  });

  it('rejects when the store has lost facts of the task', async () => {
    const lost = new StoreError('LOG_DIVERGED', 'Other facts are there');
    const store = change(memoryStore(), { readFacts: () => () => Promise.reject(lost) });
    const { live } = await begun(store);
    const waiting = waitForFact(live, isEnd, { after: live.version, signal: never });
    const [[outcome]] = await Promise.all([Promise.allSettled([waiting]), live.tryRefresh()]);
    expect(outcome).toEqual({ status: 'rejected', reason: lost });
    expect(live.listeners.size).toBe(0);
  });

  it('ends when the server closes', async () => {
    const { tasks, live } = await begun();
    const waiting = waitForFact(live, isEnd, { after: 0, signal: never });
    tasks.close();
    await waiting;
  });
});

describe('a task that is in use', () => {
  it('is not opened while the store cannot be read', async () => {
    const state = switchable(memoryStore());
    const { tasks } = await begun(state.store);
    state.isDown = true;
    await expect(tasks.open('s', 't')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('is opened again where the store lost facts that are known', async () => {
    const memory = memoryStore();
    let isLost = false;
    const store = change(memory, {
      readFacts:
        (readFacts) =>
        (...args) =>
          isLost ? Promise.reject(new StoreError('LOG_DIVERGED', 'They are gone')) : readFacts(...args),
    });
    const { tasks, live } = await begun(store);
    isLost = true;
    const again = await tasks.open('s', 't');
    expect(again === live).toBe(false);
    expect([live.isDiverged, again?.version]).toEqual([true, 3]);
  });
});
