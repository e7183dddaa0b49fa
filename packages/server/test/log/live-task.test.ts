import { type Command, headOf, type State } from '@batonjs/lifecycle';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { say } from '../../../../test/kit/rpc.ts';
import { eventually } from '../../../../test/kit/until.ts';
import type { LiveTask } from '../../src/log/live-task.ts';
import { decideAll } from '../../src/log/write/decision.ts';
import { write } from '../../src/log/write/write.ts';
import { liveTasks } from './kit/live-tasks.ts';

const at = '2026-01-01T00:00:00.000Z';
const begin: Command[] = [
  { type: 'receive', message: say('go', { contextId: 'c' }) },
  { type: 'create', taskId: 't' },
  { type: 'start-turn' },
];
const working: Command[] = [{ type: 'update', update: { status: { state: 'TASK_STATE_WORKING' } } }];
const end: Command[] = [{ type: 'update', update: { status: { state: 'TASK_STATE_COMPLETED' } } }];

/** The live tasks of one process, and what it reports. */
function process(store: TaskStore) {
  const reported: [string, unknown][] = [];
  const tasks = liveTasks(store, { report: (what, about) => reported.push([what, about]) });
  return { tasks, reported };
}

const append = async (live: LiveTask, commands: readonly Command[], times = 1) => {
  for (let n = 0; n < times; n++) await write(live, (state) => decideAll(state, commands, at));
};

/** A store with a task of three facts and so many more. */
async function stored(more = 0, last: readonly Command[] = []) {
  const store = memoryStore();
  const live = process(store).tasks.begin('s', 't');
  await append(live, begin);
  await append(live, working, more);
  if (last.length > 0) await append(live, last);
  return store;
}

/** A store that counts its calls. */
function counted(store: TaskStore) {
  const calls: Record<string, number> = {};
  const count =
    (name: string) =>
    <Call extends (...given: never[]) => unknown>(call: Call) =>
      ((...given) => {
        calls[name] = (calls[name] ?? 0) + 1;
        return call(...given);
      }) as Call;
  const names = ['commit', 'readFacts', 'claim', 'load'] as const;
  return { calls, store: change(store, Object.fromEntries(names.map((name) => [name, count(name)]))) };
}

describe('what another process writes', () => {
  it('between the opening of a task and the subscription to it is read', async () => {
    const store = await stored();
    const live = (await process(store).tasks.open('s', 't'))!;
    await append((await process(store).tasks.open('s', 't'))!, working);
    await live.subscribe();
    expect(live.version).toBe(4);
    await live.unsubscribe();
  });

  it('is read for who asks while a read is under way, which may have been too early', async () => {
    const memory = await stored();
    const gates: (() => void)[] = [];
    const store = change(memory, {
      readFacts:
        (read) =>
        async (...given) => {
          const facts = await read(...given);
          if (gates.length === 0) await new Promise<void>((resolve) => gates.push(resolve));
          return facts;
        },
    });
    const live = (await process(store).tasks.open('s', 't'))!;
    void live.tryRefresh();
    await eventually(() => expect(gates).toHaveLength(1));
    await append((await process(memory).tasks.open('s', 't'))!, working);
    const asked = live.tryRefresh();
    gates[0]!();
    await asked;
    expect(live.version).toBe(4);
  });

  it('is there for who opens a task, though another one opened it on an older log meanwhile', async () => {
    const memory = await stored();
    const gates: (() => void)[] = [];
    const store = change(memory, {
      load:
        (load) =>
        async (...given) => {
          const log = await load(...given);
          await new Promise<void>((resolve) => gates.push(resolve));
          return log;
        },
    });
    const { tasks } = process(store);
    const older = tasks.open('s', 't');
    await eventually(() => expect(gates).toHaveLength(1));
    await append((await process(memory).tasks.open('s', 't'))!, working);
    const newer = tasks.open('s', 't');
    await eventually(() => expect(gates).toHaveLength(2));
    gates[0]!();
    await older;
    gates[1]!();
    expect((await newer)!.version).toBe(4);
  });
});

describe('a task that is opened', () => {
  it('has what was loaded at hand, for followers, unless it has ended', async () => {
    const open = (await process(await stored(2)).tasks.open('s', 't'))!;
    expect(open.recent.after(0)?.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5]);
    const ended = (await process(await stored(2, end)).tasks.open('s', 't'))!;
    expect([ended.version, ended.recent.after(0)]).toEqual([7, undefined]);
  });

  it('knows the snapshot that is stored, and so when the next one is due', async () => {
    const store = await stored(70);
    const { snapshot } = (await store.load('s', 't'))!;
    expect(snapshot?.version).toBeGreaterThan(0);
    const open = (await process(store).tasks.open('s', 't'))!;
    expect(open.snapshot).toMatchObject({ version: snapshot!.version, weight: snapshot!.state.weight });
    expect(open.snapshot.ownWeight).toBeGreaterThan(0);
  });

  it('has the head of its log, whether or not a snapshot was loaded', async () => {
    for (const more of [2, 70]) {
      const store = await stored(more);
      const open = (await process(store).tasks.open('s', 't'))!;
      expect(open.headAfter([])).toEqual((await store.load('s', 't'))!.head);
    }
  });
});

describe('facts that are added', () => {
  it('count once, also where some of them were read before', async () => {
    const store = await stored();
    const facts = await store.readFacts('s', 't', 0, 10);
    const live = process(memoryStore()).tasks.begin('s', 't');
    live.add(facts.slice(0, 2));
    const whole = (await process(store).tasks.open('s', 't'))!;
    const head = whole.headAfter([])!;
    // As a write adds them whose commit was read before it was answered.
    live.add(facts, whole.state, undefined, { ...head, contextId: 'not this one' });
    expect(live.headAfter([])).toEqual(facts.map(({ fact }) => fact).reduce(headOf, undefined as never));
    expect(live.recent.after(0)).toEqual(facts);
    expect(live.state).toEqual(whole.state);
    live.add(facts);
    expect([live.version, live.recent.after(0)?.length]).toEqual([3, 3]);
  });

  it('are folded with the head where a write brings none', async () => {
    const store = await stored();
    const facts = await store.readFacts('s', 't', 0, 10);
    const whole = (await process(store).tasks.open('s', 't'))!;
    const live = process(memoryStore()).tasks.begin('s', 't');
    live.add(facts, whole.state);
    expect(live.headAfter([])).toEqual(whole.headAfter([]));
  });
});

describe('a task that is released', () => {
  it('reports that it could not unsubscribe, by its id', async () => {
    const error = new Error('away');
    const store = change(await stored(), { subscribe: () => async () => () => Promise.reject(error) });
    const { tasks, reported } = process(store);
    const live = (await tasks.open('s', 't'))!;
    await live.subscribe();
    tasks.release(live);
    await eventually(() =>
      expect(reported).toEqual([['Could not unsubscribe from a task', { taskId: 't', error }]]),
    );
  });

  it('has nothing to unsubscribe from where the store refused to subscribe', async () => {
    const store = change(await stored(), { subscribe: () => () => Promise.reject(unavailable()) });
    const { tasks, reported } = process(store);
    const live = (await tasks.open('s', 't'))!;
    await live.subscribe();
    tasks.release(live);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported.map(([what]) => what)).toEqual(['Could not subscribe to a task']);
  });
});

it.each([
  ['LOG_GAP', []],
  ['UNAVAILABLE', ['Could not read a task']],
] as const)('a read that ends with %s is reported as a failure, or not: %j', async (code, expected) => {
  const inner = await stored();
  let isBroken = false;
  const error = new StoreError(code, code);
  const store = change(inner, {
    readFacts:
      (read) =>
      (...given) =>
        isBroken ? Promise.reject(error) : read(...given),
  });
  const { tasks, reported } = process(store);
  const live = (await tasks.open('s', 't'))!;
  isBroken = true;
  await expect(live.refresh()).rejects.toBe(error);
  expect([live.readError, reported.map(([what]) => what)]).toEqual([error, expected]);
  for (const [, about] of reported) expect(about).toEqual({ taskId: 't', error });
});

describe('a write', () => {
  it('that ends is followed by a read of what the store told of meanwhile', async () => {
    const store = await stored();
    const [here, there] = [process(store).tasks, process(store).tasks];
    const [one, other] = [(await here.open('s', 't'))!, (await there.open('s', 't'))!];
    await one.subscribe();
    one.writeStarts();
    await append(other, working);
    expect(one.version).toBe(3);
    one.writeEnds();
    await eventually(() => expect(one.version).toBe(4));
    await one.unsubscribe();
  });

  it('that has nothing to write asks nothing of the store', async () => {
    const { store, calls } = counted(await stored());
    const live = (await process(store).tasks.open('s', 't'))!;
    for (const name of Object.keys(calls)) delete calls[name];
    const written = await write(live, (state) => ({ facts: [], state }));
    expect([written, calls]).toEqual([{ facts: [], first: 3, before: live.state }, {}]);
  });

  it('that was overtaken is decided again, and read once', async () => {
    const { store, calls } = counted(await stored());
    const [here, there] = [process(store).tasks, process(store).tasks];
    const [one, other] = [(await here.open('s', 't'))!, (await there.open('s', 't'))!];
    await append(other, working);
    for (const name of Object.keys(calls)) delete calls[name];
    await append(one, end);
    expect([one.version, one.state.closed, calls]).toEqual([6, true, { commit: 2, readFacts: 1 }]);
  });

  it('that was overtaken may have nothing left to write', async () => {
    const store = await stored();
    const [here, there] = [process(store).tasks, process(store).tasks];
    const [one, other] = [(await here.open('s', 't'))!, (await there.open('s', 't'))!];
    await append(other, working);
    const isNew = (known: State | undefined) => known?.version === 3;
    const written = await write(one, (known) =>
      isNew(known) ? decideAll(known, working, at) : { facts: [], state: known },
    );
    expect(written).toEqual({ facts: [], first: 4, before: one.state });
    expect((await store.load('s', 't'))?.version).toBe(4);
  });
});
