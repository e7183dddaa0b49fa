import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { artifact, completed, reply, type Turn, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { expect, it } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { change } from '../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { scopeOf } from '../../../test/kit/scope.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { until } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { eraseTasks } from '../src/erase-tasks.ts';

const configuration = { returnImmediately: true };

const agent = async function* ({ text, signal }: Turn) {
  yield { ...working(`Heard ${text}`), labels: ['canary label'], memory: { kept: 'canary memory' } };
  yield artifact('a', `canary artifact ${text}`);
  if (text === 'endless') await untilAborted(signal);
  yield completed();
};

it('erases one task, those of a context, or all of a caller, and says how much', async () => {
  const forgotten: string[] = [];
  const store = change(memoryStore(), {
    forgetTurns: (forget) => (queue, scope) => {
      forgotten.push(scope);
      return forget!(queue, scope);
    },
  });
  const server = serve(agent, { store });
  const send = async (contextId: string) =>
    (await rpc(server, 'SendMessage', { message: say('go', { contextId }) })).task.id as string;
  const [one, two] = [await send('c1'), await send('c1')];
  await send('c2');
  await send('c3');
  const erased = await eraseTasks(server, { taskId: one });
  expect(erased).toEqual({ tasks: 1, facts: expect.any(Number), webhooks: 0, left: [] });
  expect(erased.facts).toBeGreaterThan(4);
  expect(await eraseTasks(server, { taskId: one })).toEqual({ tasks: 0, facts: 0, webhooks: 0, left: [] });
  await expect(rpc(server, 'GetTask', { id: one })).rejects.toThrow();
  expect(await eraseTasks(server, { caller: 'somebody else', dryRun: true })).toMatchObject({ tasks: 0 });
  expect(await eraseTasks(server, { dryRun: true })).toMatchObject({ tasks: 3, left: [] });
  expect(forgotten).toEqual([]);
  expect(await eraseTasks(server, { caller: 'somebody else' })).toMatchObject({ tasks: 0 });
  expect(await eraseTasks(server, { contextId: 'c1' })).toMatchObject({ tasks: 1 });
  await expect(rpc(server, 'GetTask', { id: two })).rejects.toThrow();
  // The place in the order of turns goes with the last task.
  expect(forgotten).toEqual([scopeOf('agent', '', 'somebody else')]);
  expect(await eraseTasks(server, {})).toMatchObject({ tasks: 2, left: [] });
  expect(forgotten).toHaveLength(2);
  expect((await rpc(server, 'ListTasks', {})).totalSize).toBe(0);
});

it('erases more tasks than a page has, answers among them', async () => {
  const server = serve(({ text }) => reply(text));
  for (let n = 0; n < 230; n++) await rpc(server, 'SendMessage', { message: say(`${n}`) });
  expect(await eraseTasks(server, {})).toMatchObject({ tasks: 230, left: [] });
});

it('cancels a task at work first, and names those that do not end in time', async () => {
  const server = serve(agent);
  await rpc(server, 'SendMessage', { message: say('endless'), configuration });
  expect(await eraseTasks(server, {})).toMatchObject({ tasks: 1, left: [] });
  const deaf = serve(
    async function* () {
      yield working();
      await new Promise(() => {});
    },
    { timeouts: { cancelMs: 1, cancelGraceMs: 300 } },
  );
  const { task } = await rpc(deaf, 'SendMessage', { message: say('go'), configuration });
  expect(await eraseTasks(deaf, {})).toMatchObject({ tasks: 0, left: [task.id] });
  await expect.poll(async () => (await eraseTasks(deaf, {})).tasks, { timeout: 30_000 }).toBe(1);
});

it.each(['ends', 'is erased by another process'])(
  'a task that %s while it is to be canceled is erased',
  async (how) => {
    const gate = Promise.withResolvers<void>();
    let meanwhile = async (_: string) => {};
    const store = change(memoryStore(), {
      erase: (erase) => async (at, id) => {
        const erased = await erase!(at, id);
        const once = meanwhile;
        meanwhile = async () => {};
        if (erased === 'open') await once(id);
        return erased;
      },
    });
    const waiting = async function* () {
      yield working();
      await gate.promise;
      yield completed();
    };
    const [server, other] = [serve(waiting, { store }), serve(waiting, { store })];
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    meanwhile = async (id) => {
      gate.resolve();
      await until(server, id, 'COMPLETED');
      if (how !== 'ends') expect((await eraseTasks(other, { taskId: id })).tasks).toBe(1);
    };
    const { tasks, left } = await eraseTasks(server, { taskId: task.id });
    expect([tasks, left]).toEqual([how === 'ends' ? 1 : 0, []]);
  },
);

it('a task that another process erases while it waits for the end of it was erased', async () => {
  const memory = memoryStore();
  let other: ReturnType<typeof serve> | undefined;
  let erased: Promise<unknown> | undefined;
  // Hears of nothing before the task is gone.
  const held =
    <Given extends unknown[], Read>(read: (...given: Given) => Promise<Read>) =>
    async (...given: Given) => {
      await erased;
      return read(...given);
    };
  const store = change(memory, {
    commit: (commit) => async (given) => {
      const committed = await commit(given);
      if (given.facts.some(({ type }) => type === 'cancel-requested'))
        erased = other && eraseTasks(other, {});
      return committed;
    },
    readFacts: held,
    load: held,
  });
  other = serve(agent, { store: memory });
  await rpc(other, 'SendMessage', { message: say('endless'), configuration });
  expect(await eraseTasks(serve(agent, { store }), {})).toMatchObject({ tasks: 0, left: [] });
  expect(await erased).toMatchObject({ tasks: 1, left: [] });
});

it('goes on after the store failed in the middle', async () => {
  let calls = 0;
  const store = change(memoryStore(), {
    erase: (erase) => async (at, id) => {
      calls += 1;
      if (calls === 3) throw new Error('The store failed');
      return erase!(at, id);
    },
  });
  const server = serve(agent, { store });
  for (let n = 0; n < 5; n++) await rpc(server, 'SendMessage', { message: say('go') });
  await expect(eraseTasks(server, {})).rejects.toThrow('The store failed');
  expect(await eraseTasks(server, {})).toMatchObject({ tasks: 3 });
});

it('leaves nothing in the files of SQLite, once they are vacuumed', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'tasks.db');
  const store = closedAfterTest(sqliteStore(file));
  const caller = 'canary@example.com';
  const often = { limit: 1_000, perMs: 1_000 };
  const server = serve(agent, {
    store,
    authenticate: () => ({ scope: caller }),
    queue: { perCaller: 5 },
    limits: { callers: { requests: often, messages: often } },
  });
  const message = say('canary message', { metadata: { secret: 'canary metadata' } });
  const { task } = await rpc(server, 'SendMessage', { message });
  expect(await store.load(scopeOf('agent', '', caller), task.id)).toBeDefined();
  const found = () => readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes('canary'));
  const clean = () => {
    const database = new DatabaseSync(file);
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
  };
  clean();
  expect(found()).toBe(true);
  expect(await eraseTasks(server, { caller })).toMatchObject({ tasks: 1 });
  clean();
  expect(found()).toBe(false);
});
