import { StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type TaskWatch, taskWatches } from '../../src/sockets/task-watches.ts';
import { taskLogOf } from '../../src/tasks/task-log.ts';
import { factsOf, writeTo } from '../rules/facts.ts';

/** Watches on a store whose notifications may be lost, and which may fail. */
function watching({ notifies = true, sweepMs = 3_600_000 } = {}) {
  const memory = memoryStore();
  const state = {
    listeners: 0,
    loads: 0,
    reads: 0,
    failure: undefined as Error | undefined,
    loadFailure: undefined as Error | undefined,
    /** What happens before a subscription begins. */
    meanwhile: async () => {},
  };
  const topics: unknown[] = [];
  const store = change(memory, {
    subscribe: (subscribe) => async (topic, notify) => {
      topics.push(topic);
      state.listeners += 1;
      await state.meanwhile();
      const unsubscribe = await subscribe(topic, notifies ? notify : () => {});
      return async () => {
        state.listeners -= 1;
        await unsubscribe();
      };
    },
    load:
      (load) =>
      async (...given) => {
        state.loads += 1;
        if (state.loadFailure) throw state.loadFailure;
        return load(...given);
      },
    readFacts:
      (read) =>
      async (...given) => {
        state.reads += 1;
        if (state.failure) throw state.failure;
        return read(...given);
      },
  });
  const tasks = taskLogOf(store, 'gateway');
  const logged: unknown[][] = [];
  const watches = taskWatches(tasks, (...entry) => logged.push(entry), sweepMs);
  const opened: TaskWatch[] = [];
  const open = async (taskId = 't') => {
    const watch = await watches.open(tasks.addressOf('ada', taskId));
    if (watch) opened.push(watch);
    return watch;
  };
  onTestFinished(() => {
    for (const watch of opened) watches.close(watch);
  });
  return { tasks, watches, open, state, topics, logged };
}

const facts = factsOf(
  't',
  Array.from({ length: 300 }, () => 'WORKING'),
);
const sequences = (updates: readonly { sequence: number }[]) => updates.map(({ sequence }) => sequence);

describe('a task that sockets watch', () => {
  it('is watched once for all of them, and no longer than the last', async () => {
    const { tasks, watches, open, state, topics } = watching();
    await writeTo(tasks, 't', facts.slice(0, 3));
    const [one, two] = await Promise.all([open(), open()]);
    expect(one).toBe(two);
    expect(await open()).toBe(one);
    expect([state.listeners, state.loads]).toEqual([1, 1]);
    const { scope, id } = tasks.addressOf('ada', 't');
    expect(topics).toEqual([{ scope, taskId: id }]);
    watches.close(one!);
    watches.close(one!);
    expect(state.listeners).toBe(1);
    watches.close(one!);
    await eventually(() => expect(state.listeners).toBe(0));
    watches.close(one!);
    expect(await open()).not.toBe(one);
    expect(state.listeners).toBe(1);
  });

  it('that does not exist is not watched', async () => {
    const { open, state, tasks } = watching();
    expect(await Promise.all([open(), open()])).toEqual([undefined, undefined]);
    expect(state.listeners).toBe(0);
    await writeTo(tasks, 't', facts.slice(0, 3));
    expect((await open())?.latest.sequence).toBe(3);
  });

  it.each(['loadFailure', 'failure'] as const)(
    'that cannot be read is not watched, and can be later: %s',
    async (name) => {
      const { tasks, open, state } = watching();
      await writeTo(tasks, 't', facts.slice(0, 3));
      const failure = new Error('Away');
      state[name] = failure;
      await expect(Promise.all([open(), open()])).rejects.toBe(failure);
      await eventually(() => expect(state.listeners).toBe(0));
      state[name] = undefined;
      expect((await open())?.latest).toEqual({ status: 'in_progress', sequence: 3 });
    },
  );

  it('tells its listeners of each change, and each watch its own', async () => {
    const { tasks, open } = watching();
    await writeTo(tasks, 't', facts.slice(0, 3));
    await writeTo(tasks, 'other', factsOf('other', ['WORKING']));
    const [watch, other] = [(await open())!, (await open('other'))!];
    const heard: string[] = [];
    watch.listeners.add(() => heard.push(`t ${watch.latest.sequence}`));
    other.listeners.add(() => heard.push('other'));
    await writeTo(tasks, 't', facts.slice(3, 5), 3);
    await eventually(() => expect(heard).toEqual(['t 5']));
    await watch.refresh();
    expect(heard).toEqual(['t 5']);
    expect(watch.latest).toMatchObject({ status: 'in_progress', sequence: 5, time: expect.any(String) });
  });

  it('has what happened before the subscription began', async () => {
    const { tasks, open, state } = watching();
    await writeTo(tasks, 't', facts.slice(0, 3));
    state.meanwhile = () => writeTo(tasks, 't', facts.slice(3, 4), 3);
    expect((await open())?.latest.sequence).toBe(4);
  });

  it('is not read any more after its end', async () => {
    const { tasks, open, state } = watching();
    await writeTo(tasks, 't', factsOf('t', ['COMPLETED']));
    const watch = (await open())!;
    const { reads } = state;
    await watch.refresh();
    expect(state.reads).toBe(reads);
  });

  it('is read now and then in case a notification was lost', async () => {
    const { tasks, open, watches, state } = watching({ notifies: false, sweepMs: 1 });
    await writeTo(tasks, 't', facts.slice(0, 3));
    await writeTo(tasks, 'other', factsOf('other', ['WORKING']));
    const [watch, other] = [(await open())!, (await open('other'))!];
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    await eventually(() => expect(watch.latest.sequence).toBe(4));
    watches.close(other);
    await writeTo(tasks, 't', facts.slice(4, 5), 4);
    await eventually(() => expect(watch.latest.sequence).toBe(5));
    watches.close(watch);
    await eventually(() => expect(state.listeners).toBe(0));
    const again = (await open())!;
    await writeTo(tasks, 't', facts.slice(5, 6), 5);
    await eventually(() => expect(again.latest.sequence).toBe(6));
  });

  it('is not read any more when nobody watches', async () => {
    const { tasks, open, watches, state } = watching({ notifies: false, sweepMs: 1 });
    await writeTo(tasks, 't', facts.slice(0, 3));
    const watch = (await open())!;
    const { reads } = state;
    await eventually(() => expect(state.reads).toBeGreaterThan(reads));
    watches.close(watch);
    await new Promise((resolve) => setImmediate(resolve));
    const after = state.reads;
    // A sweep of 1 ms would have come by now.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(state.reads).toBe(after);
  });

  it('that cannot be read for a while is read later, and the operator is told', async () => {
    const { tasks, open, state, logged } = watching({ sweepMs: 1 });
    await writeTo(tasks, 't', facts.slice(0, 3));
    const watch = (await open())!;
    const failure = new Error('Away');
    state.failure = failure;
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    await eventually(() => expect(logged.length).toBeGreaterThan(2));
    expect(logged[0]).toEqual(['warn', 'A watched task could not be read', { err: failure }]);
    state.failure = undefined;
    await eventually(() => expect(watch.latest.sequence).toBe(4));
  });
});

describe('the updates of a watched task', () => {
  it.each([
    [0, 0],
    [31, 0],
    [32, 1],
    [40, 1],
  ])('after %i more are kept in memory up to 32, and read beyond that', async (more, reads) => {
    const { tasks, open, state } = watching();
    await writeTo(tasks, 't', facts.slice(0, 3));
    const watch = (await open())!;
    if (more > 0) await writeTo(tasks, 't', facts.slice(3, 3 + more), 3);
    await watch.refresh();
    const before = state.reads;
    const updates = await watch.updatesAfter(2);
    expect(sequences(updates)).toEqual(Array.from({ length: more + 1 }, (_, n) => n + 3));
    expect(state.reads - before).toBe(reads);
    expect(sequences(await watch.updatesAfter(watch.latest.sequence - 1))).toEqual([watch.latest.sequence]);
    expect(await watch.updatesAfter(watch.latest.sequence)).toEqual([]);
    expect(await watch.updatesAfter(watch.latest.sequence + 1)).toEqual([]);
    expect(state.reads - before).toBe(reads);
  });

  it('are read 100 at a time', async () => {
    const { tasks, open } = watching();
    await writeTo(tasks, 't', facts);
    const watch = (await open())!;
    expect(sequences(await watch.updatesAfter(0))).toEqual(Array.from({ length: 100 }, (_, n) => n + 2));
    expect(sequences(await watch.updatesAfter(150))).toEqual(Array.from({ length: 100 }, (_, n) => n + 151));
  });

  it('that the store does not keep any more are left out', async () => {
    const { tasks, open, state } = watching();
    await writeTo(tasks, 't', facts);
    const watch = (await open())!;
    state.failure = new StoreError('LOG_GAP', 'Gone');
    expect(await watch.updatesAfter(0)).toEqual([watch.latest]);
    state.failure = new StoreError('UNAVAILABLE', 'Away');
    await expect(watch.updatesAfter(0)).rejects.toBe(state.failure);
  });

  it('are all found, however many came before anyone looked', async () => {
    const { tasks, open } = watching({ notifies: false });
    await writeTo(tasks, 't', facts.slice(0, 3));
    const watch = (await open())!;
    await writeTo(tasks, 't', facts.slice(3, 280), 3);
    let calls = 0;
    watch.listeners.add(() => {
      calls += 1;
    });
    await Promise.all([watch.refresh(), watch.refresh()]);
    expect(watch.latest.sequence).toBe(280);
    expect(calls).toBe(3);
    expect(sequences(await watch.updatesAfter(248))).toEqual(Array.from({ length: 32 }, (_, n) => n + 249));
  });
});
