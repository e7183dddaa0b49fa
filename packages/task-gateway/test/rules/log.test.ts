import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { eventually } from '../../../../test/kit/until.ts';
import { type TaskLog, taskLogOf } from '../../src/tasks/task-log.ts';
import { waitForUpdate } from '../../src/tasks/task-service.ts';
import { asking, continued, factsOf, writeTo } from './facts.ts';

describe('a task in the log', () => {
  it('is what its first message and its last status say', async () => {
    const store = memoryStore();
    const tasks = taskLogOf(store, 'gateway');
    await writeTo(tasks, 't', factsOf('t', ['WORKING', 'WORKING'], { data: { a: 1 } }));
    expect(await tasks.read(tasks.addressOf('ada', 't'))).toEqual({
      task: { taskId: 't', type: 'work', data: { a: 1 }, status: 'in_progress', sequence: 4 },
      submission: 'first',
    });
    expect(await tasks.read(tasks.addressOf('ben', 't'))).toBeUndefined();
    expect(await tasks.read(taskLogOf(store, 'other').addressOf('ada', 't'))).toBeUndefined();
    expect(tasks.addressOf('ada', 't')).toEqual(tasks.addressOf('ada', 't'));
  });

  it('still asks what it asked when another process goes on with it', async () => {
    const tasks = taskLogOf(memoryStore(), 'gateway');
    const form = { formId: 'f', schema: {} };
    await writeTo(tasks, 't', [...factsOf('t', ['WORKING']), asking({ form })]);
    await writeTo(tasks, 't', [continued], 4);
    const shown = { taskId: 't', type: 'work', data: {}, status: 'in_progress', form, sequence: 5 };
    expect((await tasks.read(tasks.addressOf('ada', 't')))?.task).toEqual(shown);
    const ofStatus = { status: 'in_progress', limit: 5 } as const;
    expect((await tasks.list('ada', ofStatus)).tasks).toEqual([shown]);
    const { transitions } = await tasks.history(tasks.addressOf('ada', 't'), 2, 10);
    expect(transitions.map(({ sequence }) => sequence)).toEqual([3, 4]);
    await writeTo(tasks, 't', factsOf('t', ['WORKING']).slice(2), 5);
    expect((await tasks.read(tasks.addressOf('ada', 't')))?.task.form).toBeUndefined();
  });

  it('is none where the log has a message only', async () => {
    const tasks = taskLogOf(memoryStore(), 'gateway');
    await writeTo(tasks, 't', factsOf('t', []).slice(0, 1));
    expect(await tasks.read(tasks.addressOf('ada', 't'))).toBeUndefined();
  });

  it('is read from its first fact, also where the store gives a snapshot', async () => {
    const memory = memoryStore();
    let reads = 0;
    const store = change(memory, {
      load: (load) => async (scope, id) => {
        const log = await load(scope, id);
        return log && { ...log, facts: log.facts.slice(0) };
      },
      readFacts:
        (read) =>
        (...given) => {
          reads += 1;
          return read(...given);
        },
    });
    const tasks = taskLogOf(store, 'gateway');
    await writeTo(tasks, 't', factsOf('t', ['WORKING']));
    await tasks.read(tasks.addressOf('ada', 't'));
    // The first fact was loaded already.
    expect(reads).toBe(0);
  });

  it.each<[number, number, number[], number | undefined]>([
    [0, 1_000, [2, 3, 4, 5], undefined],
    [0, 4, [2, 3, 4, 5], undefined],
    [0, 3, [2, 3, 4], 4],
    [0, 1, [2], 2],
    [2, 2, [3, 4], 4],
    [4, 2, [5], undefined],
    [5, 1, [], undefined],
  ])('has after %i up to %i transitions', async (after, limit, sequences, next) => {
    const tasks = taskLogOf(memoryStore(), 'gateway');
    await writeTo(tasks, 't', factsOf('t', ['WORKING', 'WORKING', 'COMPLETED']));
    const page = await tasks.history(tasks.addressOf('ada', 't'), after, limit);
    expect(page.transitions.map(({ sequence }) => sequence)).toEqual(sequences);
    expect(page.next).toBe(next);
  });

  it.each([498, 499, 500, 501, 998, 999])(
    'has all of %i transitions, which are read in parts',
    async (count) => {
      const memory = memoryStore();
      const tasks = taskLogOf(
        change(memory, {
          // At most 500 facts are asked for at a time.
          readFacts: (read) => (scope, id, after, limit) => {
            expect(limit).toBe(500);
            return read(scope, id, after, limit);
          },
        }),
        'gateway',
      );
      await writeTo(
        tasks,
        't',
        factsOf(
          't',
          Array.from({ length: count }, () => 'WORKING'),
        ),
      );
      const { transitions, next } = await tasks.history(tasks.addressOf('ada', 't'), 0, 5_000);
      expect(transitions.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: count + 1 }, (_, n) => n + 2),
      );
      expect(next).toBeUndefined();
    },
  );
});

describe('the list of tasks', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

  it('has those of a caller, a status and a type, the latest first', async () => {
    const tasks = taskLogOf(memoryStore(), 'gateway');
    const rows: [id: string, states: string[], second: number, type: string][] = [
      ['a', ['WORKING'], 1, 'work'],
      ['b', ['INPUT_REQUIRED'], 3, 'work'],
      ['c', ['AUTH_REQUIRED'], 2, 'other'],
      ['d', ['WORKING', 'COMPLETED'], 4, 'work'],
      ['e', [], 5, 'work'],
    ];
    for (const [id, states, second, type] of rows)
      await writeTo(tasks, id, factsOf(id, states, { at: at(second), type }));
    const ids = async (filter: Partial<Parameters<TaskLog['list']>[1]>, caller = 'ada') =>
      (await tasks.list(caller, { limit: 50, ...filter })).tasks.map(({ taskId }) => taskId);
    expect(await ids({})).toEqual(['e', 'd', 'b', 'c', 'a']);
    expect(await ids({}, 'ben')).toEqual([]);
    expect(await ids({ status: 'in_progress' })).toEqual(['b', 'c', 'a']);
    expect(await ids({ status: 'in_progress', type: 'work' })).toEqual(['b', 'a']);
    expect(await ids({ status: 'created' })).toEqual(['e']);
    expect(await ids({ status: 'completed' })).toEqual(['d']);
    expect(await ids({ status: 'failed' })).toEqual([]);
    expect(await ids({ type: 'other' })).toEqual(['c']);
    expect((await tasks.list('ada', { limit: 5 })).cursor).toBeUndefined();
    expect((await tasks.list('ada', { limit: 4 })).cursor).toBeDefined();
    expect((await tasks.list('ada', { limit: 1, status: 'completed' })).tasks).toEqual([
      { taskId: 'd', type: 'work', data: {}, status: 'completed', result: {}, sequence: 4 },
    ]);
  });
});

describe('a wait for an update', () => {
  /** A store whose notifications may be lost, and that says how many listen. */
  function waiting({ notifies = true } = {}) {
    const memory = memoryStore();
    const topics: unknown[] = [];
    let listeners = 0;
    let reads = 0;
    const store = change(memory, {
      subscribe: (subscribe) => async (topic, notify) => {
        topics.push(topic);
        listeners += 1;
        const unsubscribe = await subscribe(topic, notifies ? notify : () => {});
        return async () => {
          listeners -= 1;
          await unsubscribe();
        };
      },
      load:
        (load) =>
        (...given) => {
          reads += 1;
          return load(...given);
        },
    });
    const tasks = taskLogOf(store, 'gateway');
    const address = tasks.addressOf('ada', 't');
    const wait = (after: number, ms: number, signal = new AbortController().signal) =>
      waitForUpdate(tasks, address, { after, ms, signal });
    return { tasks, address, wait, topics, listeners: () => listeners, reads: () => reads };
  }
  const facts = factsOf('t', ['WORKING', 'WORKING', 'COMPLETED']);

  it('ends with the next update, at the end of the task, of the time, or of the client', async () => {
    const { tasks, address, wait, topics, listeners } = waiting();
    expect(await wait(0, 60_000)).toBeUndefined();
    await writeTo(tasks, 't', facts.slice(0, 3));
    const sequence = async (read: ReturnType<typeof wait>) => (await read)?.task.sequence;
    expect(await sequence(wait(0, 60_000))).toBe(3);
    expect(await sequence(wait(2, 60_000))).toBe(3);
    expect(await sequence(wait(3, 0))).toBe(3);
    expect(await sequence(wait(3, 5))).toBe(3);
    expect(await sequence(wait(3, 60_000, AbortSignal.abort()))).toBe(3);
    const client = new AbortController();
    const left = wait(3, 60_000, client.signal);
    client.abort();
    expect(await sequence(left)).toBe(3);
    const next = wait(3, 60_000);
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    expect(await sequence(next)).toBe(4);
    await writeTo(tasks, 't', facts.slice(4), 4);
    expect(await sequence(wait(1_000, 60_000))).toBe(5);
    expect(listeners()).toBe(0);
    expect(new Set(topics.map((topic) => JSON.stringify(topic)))).toEqual(
      new Set([JSON.stringify({ scope: address.scope, taskId: address.id })]),
    );
  });

  it('reads the store once a second in case a notification was lost', async () => {
    const { tasks, wait, reads } = waiting({ notifies: false });
    await writeTo(tasks, 't', facts.slice(0, 3));
    const next = wait(3, 60_000);
    await eventually(() => expect(reads()).toBe(1));
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    expect((await next)?.task.sequence).toBe(4);
  });

  it('leaves neither a listener nor a timer behind', async () => {
    const { tasks, wait, listeners } = waiting();
    await writeTo(tasks, 't', facts.slice(0, 3));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const added: string[] = [];
    const removed: string[] = [];
    const { signal } = new AbortController();
    const noting =
      (name: 'addEventListener' | 'removeEventListener', names: string[]) =>
      (type: 'abort', call: () => void) => {
        names.push(type);
        signal[name](type, call);
      };
    const noted = {
      addEventListener: noting('addEventListener', added),
      removeEventListener: noting('removeEventListener', removed),
      aborted: false,
    } as unknown as AbortSignal;
    const read = wait(3, 60_000, noted);
    await writeTo(tasks, 't', facts.slice(3, 4), 3);
    await read;
    expect([added, removed, listeners()]).toEqual([['abort'], ['abort'], 0]);
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
