import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { connect } from '@batonjs/client';
import { nestedTasks } from '@batonjs/nested-tasks';
import { bulkTasks, eraseTasks, forkTask } from '@batonjs/operator';
import {
  type Agent,
  type AgentServerOptions,
  completed,
  createAgentServer,
  inputRequired,
  type Turn,
  working,
} from '@batonjs/server';
import { scopeOf } from '@batonjs/server/internals';
import { forgetSchedule, recurring, schedulesIn } from '@batonjs/server/schedules';
import { createWorker } from '@batonjs/server/worker';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { runTurn, testClock } from '@batonjs/testing';
import { drainSubmissions, sqliteDatabase, submit } from '@batonjs/transactions';
import { brief, rpc, say, stream } from '../kit/rpc.ts';

/** Waits without holding the process: what is called must do so itself. */
export const idly = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** Where the process keeps its tasks: a folder of its own, or nowhere. */
const folder = process.argv[3] === 'SQLite' ? mkdtempSync(join(tmpdir(), 'baton-calls-')) : '';
process.once('exit', () => folder && rmSync(folder, { recursive: true }));
const open = () => (folder ? sqliteStore(join(folder, 'tasks.db')) : memoryStore());
const store = open();
const card = { name: 'Agent', description: 'Works' };
const logger = () => {};
const push = { allow: ['127.0.0.1:*'], retry: { baseDelayMs: 50 } };

/** Takes 100 ms; asks; tries a step again; or never ends. */
const agent: Agent = async function* ({ text, step, wakeKey, woken }: Turn) {
  yield working();
  if (text === 'ask' && !woken) return yield inputRequired(wakeKey);
  if (text === 'never') return await new Promise<void>(() => {});
  if (text === 'retry')
    await step('flaky', { retries: 2, backoff: { initialMs: 50 } }, async ({ attempt }) => {
      if (attempt < 3) throw new Error('429');
    });
  else await idly(100);
  yield completed('done');
};

const serve = (options: Partial<AgentServerOptions> = {}) =>
  createAgentServer({
    card,
    agent,
    store,
    logger,
    ...options,
    timeouts: { cancelGraceMs: 100, ...options.timeouts },
  });
type Server = ReturnType<typeof serve>;

const send = (server: Server, text: string, returnImmediately = false) =>
  rpc(server, 'SendMessage', { message: say(text), configuration: { returnImmediately } });
const stateOf = ({ task }: { task: { status: { state: string } } }) => task.status.state;
const client = (server: Server) => connect('http://localhost', { fetch: (request) => server.fetch(request) });

/** A store whose answers take a while, for which nothing holds the process but who waits for them. */
const slow: typeof store = new Proxy(store, {
  get(target, name) {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function' || name === 'subscribe') return member;
    return async (...given: unknown[]) => {
      await idly(20);
      return member.apply(target, given);
    };
  },
});

const bank = () => {
  const database = new DatabaseSync(folder ? join(folder, 'bank.db') : ':memory:');
  return { database, bank: sqliteDatabase(database) };
};

/** Each of these waits, and resolves to what it came to. A process that does nothing else lives until then. */
export const calls: Readonly<Record<string, () => Promise<unknown>>> = {
  'a blocking send': async () => stateOf(await send(serve(), 'work')),
  'a send whose step is tried again': async () => stateOf(await send(serve(), 'retry')),
  'a send whose answer nobody waits for': async () => {
    const { task } = await send(serve(), 'work', true);
    return new Promise((resolve) => {
      process.once('beforeExit', async () =>
        resolve((await store.load(scopeOf('agent', undefined, undefined), task.id))?.head.state),
      );
    });
  },
  'a send that no worker takes': async () =>
    stateOf(await send(serve({ run: 'workers', timeouts: { blockingMs: 200 } }), 'x')),
  'a stream': async () => {
    const events: string[] = [];
    for await (const { event } of stream(serve(), 'SendStreamingMessage', { message: say('work') }))
      events.push(brief(event));
    return events.at(-1);
  },
  'a cancel of an agent that does not stop': async () => {
    const server = serve();
    const { task } = await send(server, 'never', true);
    return (await rpc(server, 'CancelTask', { id: task.id })).status.state;
  },
  'reads of a store that takes its time': async () => {
    const server = serve({ store: slow, push });
    const { task } = await send(server, 'ask');
    const { isReady } = await server.readiness();
    await server.push.deadLetters();
    await forkTask(server, task.id);
    await rpc(server, 'ListTasks', {});
    return isReady && (await server.ready());
  },
  'a wake': async () => {
    const server = serve({ store: slow });
    const { task } = await send(server, 'ask');
    return server.wake(task.status.message.parts[0].text);
  },
  'an erase of a task at work': async () => {
    const server = serve();
    const { task } = await send(server, 'never', true);
    return (await eraseTasks(server, { taskId: task.id })).tasks;
  },
  'an erase by the store alone': async () => {
    const { task } = await send(serve(), 'never', true);
    return (await eraseTasks({ store, name: 'agent' }, { taskId: task.id })).tasks;
  },
  'a bulk run with a pace': async () => {
    const server = serve();
    for (let n = 0; n < 3; n++) await send(server, 'ask');
    let done = 0;
    for await (const run of bulkTasks(server, {
      action: 'cancel',
      state: 'TASK_STATE_INPUT_REQUIRED',
      perSecond: 10,
    }))
      done = run.done;
    return done;
  },
  'a bulk run by the store alone': async () => {
    const server = serve();
    for (let n = 0; n < 3; n++) await send(server, 'ask');
    let done = 0;
    for await (const run of bulkTasks({ store, name: 'agent' }, { action: 'cancel', perSecond: 10 }))
      done = run.done;
    return done;
  },
  'a close that lets a turn end': async () => {
    const server = serve();
    const { task } = await send(server, 'work', true);
    await server.close();
    return (await rpc(serve(), 'GetTask', { id: task.id })).status.state;
  },
  'a close that ends a turn': async () => {
    const server = serve();
    const { task } = await send(server, 'never', true);
    await server.close({ graceMs: 50 });
    return (await rpc(serve(), 'GetTask', { id: task.id })).status.state;
  },
  'a worker until it is closed': async () => {
    const front = serve({ run: 'workers' });
    const worker = createWorker({ agent, store, logger, timeouts: { leaseMs: 300 } });
    const state = stateOf(await send(front, 'work'));
    await worker.close();
    return state;
  },
  'send and follow of a client': async () => {
    const to = await client(serve());
    const { task } = await to.send('work');
    return 'task' in (await to.follow(task!).result());
  },
  'a client that cannot reach its agent': () =>
    connect('http://127.0.0.1:1', { retry: { attempts: 3, firstMs: 50 } }).catch(({ code }) => code),
  'a turn in a unit test': async () =>
    (
      await runTurn(async function* ({ step }) {
        const late = step('one', { timeoutMs: 50 }, () => new Promise<string>(() => {}));
        yield completed(await late.catch(({ code }) => code));
      }, 'go')
    ).updates.length,
  'a clock of a test': async () => {
    const clock = testClock();
    const sent = send(serve({ clock, store: slow }), 'retry');
    for (let n = 0; n < 20; n++) await clock.advance(1_000);
    return stateOf(await sent);
  },
  'a call of another agent': async () => {
    const child = serve({ name: 'child' });
    const { agent: parent, ...rest } = nestedTasks({
      card,
      agent: async function* ({ call }) {
        await call(child, 'retry', { name: 'one' });
        yield completed();
      },
    });
    return stateOf(await send(serve({ agent: parent, ...rest }), 'go'));
  },
  'a call of an agent that cannot be reached': async () => {
    const { agent: parent, ...rest } = nestedTasks({
      card,
      unreachableMs: 300,
      agent: async function* ({ call }) {
        yield completed(await call('http://127.0.0.1:1', 'go', { name: 'one' }).catch(({ code }) => code));
      },
    });
    return stateOf(await send(serve({ agent: parent, ...rest }), 'go'));
  },
  'a transaction': async () => {
    const { bank: database } = bank();
    const paying: Agent = async function* ({ transaction }) {
      yield completed(await transaction('pay', database, () => 'paid'));
    };
    return stateOf(await send(serve({ agent: paying }), 'go'));
  },
  'messages of a database': async () => {
    const { bank: database, database: tx } = bank();
    const server = serve();
    const { taskId } = await submit(database, tx, 'work');
    const draining = drainSubmissions(server, database);
    await draining.look();
    await draining.close();
    return (await (await client(server)).follow(taskId).result()) && taskId.length > 0;
  },
  'schedules of a store': async () => {
    serve({ schedules: recurring([{ name: 'daily', cron: '0 0 * * *', message: 'x' }]) });
    await schedulesIn(store, 'agent');
    return forgetSchedule(store, 'agent', 'none');
  },
};

/** What is there, and waits for nothing that somebody asked for: a process that does nothing else ends. */
export const idle: Readonly<Record<string, () => unknown>> = {
  'a server': () =>
    serve({
      push,
      retention: { closedAfterMs: 1_000 },
      schedules: recurring([{ name: 'daily', cron: '0 0 * * *', message: 'x' }]),
    }),
  'a server that is closed': () => serve().close(),
  'a worker that is closed': () => createWorker({ agent, store, logger }).close(),
  'a task that waits for an answer': () => send(serve(), 'ask'),
  'a task that has ended': () => send(serve(), 'work'),
  'a stream that nobody reads': async () => {
    const message = say('ask');
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message },
    });
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const server = serve({ streams: { closeOnInputRequired: false } });
    return server.fetch(new Request('http://localhost/', { method: 'POST', headers, body }));
  },
  'messages of a database that are looked for': () => drainSubmissions(serve(), bank().bank),
  'a client': () => client(serve()),
};
