import { type Command, type FactOf, headOf } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
import { type Agent, completed, inputRequired, taskAgent, working } from '../../../src/index.ts';
import { decideAll } from '../../../src/log/write/decision.ts';

/** Turns that a process left which died, and how they are claimed. Leases of this process are long: no time passes. */

const leaseMs = 600_000;
const rerun = { restart: 'rerun', timeouts: { leaseMs } } as const;

/** A store with so many tasks whose turns a dead process left. Its leases are over. */
async function left(count: number, store: TaskStore = memoryStore(), name = 'left'): Promise<TaskStore> {
  for (let n = 0; n < count; n++) {
    const taskId = `${name}-${n}`;
    const commands: Command[] = [
      { type: 'receive', message: say('go', { contextId: 'c' }) },
      { type: 'create', taskId },
      { type: 'start-turn' },
    ];
    const { facts } = decideAll(undefined, commands, new Date().toISOString());
    await store.commit({
      ...{ scope, taskId, commitId: taskId, expectedVersion: 0, facts },
      head: facts.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined)!,
      turn: { queue: 'agent', acquire: { holder: 'dead', ttlMs: 1 } },
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 5));
  return store;
}

const startsOf = async (store: TaskStore, id: string) =>
  (await store.readFacts(scope, id, 0, 1_000)).flatMap(({ fact }): FactOf<'turn-started'>[] =>
    fact.type === 'turn-started' ? [fact] : [],
  );

it('are started one by one, each as one that runs alone, though the ones before still run', async () => {
  const store = await left(4);
  const gate = Promise.withResolvers<void>();
  let silent = 0;
  let most = 0;
  const agent: Agent = taskAgent(async function* () {
    most = Math.max(most, ++silent);
    // The next would start in this time.
    for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
    silent--;
    yield working();
    yield working('Still there');
    await gate.promise;
    yield completed();
  });
  const server = serve(agent, { store, ...rerun });
  await eventually(() => expect(server.load.turns).toBe(4));
  for (let n = 0; n < 4; n++) {
    const [, again] = await startsOf(store, `left-${n}`);
    expect(again).toMatchObject({ attempt: 2, alone: true });
  }
  gate.resolve();
  for (let n = 0; n < 4; n++) await until(server, `left-${n}`, 'COMPLETED');
  expect(most).toBe(1);
});

it('are started after one that ends without a word', async () => {
  const store = await left(3);
  const server = serve(
    taskAgent(async function* () {
      yield inputRequired('Well?');
    }),
    { store, ...rerun },
  );
  for (let n = 0; n < 3; n++) await until(server, `left-${n}`, 'INPUT_REQUIRED');
  await eventually(() => expect(server.load).toEqual({ turns: 0, tasks: 0 }));
});

it('while one of them is tried, the process takes no others that were left, and keeps those it has', async () => {
  const store = await left(40);
  const asked: number[] = [];
  const gate = Promise.withResolvers<void>();
  const counted = change(store, {
    claim: (claim) => async (request) => {
      const leases = await claim(request);
      if (request.queue === 'agent') asked.push(leases.length);
      return leases;
    },
  });
  const agent = taskAgent(async function* () {
    await gate.promise;
    yield completed();
  });
  const server = serve(agent, { store: counted, ...rerun });
  await eventually(() => expect(server.load.turns).toBe(1));
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
  expect(asked.filter((count) => count > 0)).toEqual([32]);
  gate.resolve();
});

it('a turn that begins beside others is not taken for one that runs alone', async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  const agent = taskAgent(async function* ({ messages }) {
    if (messages.length === 1) return yield inputRequired('Well?');
    await gate.promise;
    yield completed();
  });
  const server = serve(agent, { store });
  const configuration = { returnImmediately: true };
  const ids: string[] = [];
  for (let n = 0; n < 2; n++) ids.push((await rpc(server, 'SendMessage', { message: say('go') })).task.id);
  for (const taskId of ids) {
    await rpc(server, 'SendMessage', { message: say('so', { taskId }), configuration });
    await eventually(async () => expect(await startsOf(store, taskId)).toHaveLength(2));
  }
  const alone = await Promise.all(ids.map(async (id) => (await startsOf(store, id)).map((one) => one.alone)));
  expect(alone).toEqual([
    [true, true],
    [true, undefined],
  ]);
  gate.resolve();
});

it('what a process claims while it closes is given back at once, and where it claimed nothing nothing is', async () => {
  for (const count of [0, 2]) {
    const inner = await left(count);
    const renewed: [leases: number, ms: number][] = [];
    const claiming = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const store = change(inner, {
      claim: (claim) => async (request) => {
        if (request.queue !== 'agent') return claim(request);
        claiming.resolve();
        await gate.promise;
        return claim(request);
      },
      renew: (renew) => (leases, ms) => {
        renewed.push([leases.length, ms]);
        return renew(leases, ms);
      },
    });
    const server = serve(() => new Promise(() => {}), { store, ...rerun });
    await claiming.promise;
    const closed = server.close({ graceMs: 0 });
    gate.resolve();
    await closed;
    expect(renewed).toEqual(count > 0 ? [[2, 1]] : []);
  }
});

it('are tried again where another process dies after the first ones were', async () => {
  const store = await left(2);
  const agent = taskAgent(async function* () {
    yield completed();
  });
  const server = serve(agent, { store, ...rerun });
  await until(server, 'left-1', 'COMPLETED');
  await left(2, store, 'again');
  await until(server, 'again-0', 'COMPLETED');
  await until(server, 'again-1', 'COMPLETED');
});

it('a process that closes gives back those that it has not started, and another one starts them at once', async () => {
  const store = await left(40);
  const started = Promise.withResolvers<void>();
  const busy: Agent = taskAgent(async function* ({ signal }) {
    started.resolve();
    // The next one is started when this one is silent for a while.
    while (!signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    yield completed();
  });
  const first = serve(busy, { store, ...rerun });
  await started.promise;
  await first.close({ graceMs: 0 });
  const unstarted = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => (await startsOf(store, `left-${n}`)).length === 1),
  );
  expect(unstarted.filter(Boolean).length).toBeGreaterThan(0);
  const second = serve(
    async function* () {
      yield completed();
    },
    { store, ...rerun },
  );
  for (let n = 0; n < 40; n++) await until(second, `left-${n}`, 'COMPLETED');
});
