import { type Command, headOf } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serveWith } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
import { type Agent, completed, taskAgent, working } from '../../../src/index.ts';
import { decideAll } from '../../../src/log/write/decision.ts';
import type { TurnEvent } from '../../../src/turns/turn-dependencies.ts';

/** What the hook of a server is told of turns, and how tasks end that no agent ends. No lease of these servers runs out. */

const serve = serveWith({ timeouts: { leaseMs: 600_000 } });
const now = { returnImmediately: true };

/** A store with a task, `t`, whose turn a dead process left. It ran alone if that is said. */
async function leftTurn(alone?: boolean): Promise<TaskStore> {
  const store = memoryStore();
  const commands: Command[] = [
    { type: 'receive', message: say('go', { contextId: 'c' }) },
    { type: 'create', taskId: 't' },
    { type: 'start-turn', alone: alone || undefined },
  ];
  const { facts } = decideAll(undefined, commands, new Date().toISOString());
  await store.commit({
    ...{ scope, taskId: 't', commitId: 'left', expectedVersion: 0, facts },
    head: facts.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined)!,
    turn: { queue: 'agent', acquire: { holder: 'dead', ttlMs: 1 } },
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  return store;
}

/** Events of turns, as [type, attempt, maxAttempts]. */
function events() {
  const all: [TurnEvent['type'], number, number][] = [];
  const onEvent = (event: object | TurnEvent) =>
    'attempt' in event && all.push([event.type, event.attempt, event.maxAttempts]);
  return { all, onEvent };
}

/** An agent that reports something and then waits forever, whatever its signal says. */
const deaf = (reached: () => void = () => {}): Agent =>
  taskAgent(async function* () {
    yield working();
    reached();
    await new Promise(() => {});
  });
const quick: Agent = taskAgent(async function* ({ attempt }) {
  yield completed(`In attempt ${attempt}`);
});

/** What a task that failed says to programs. */
const failure = (code: string, message: string) => ({
  status: { message: { parts: [{ text: message }, { data: { code, message, retryable: true } }] } },
});
const lost = failure('PROCESS_LOST', 'The process that worked on the task died');

it('a turn that is run again was taken over, and is another attempt', async () => {
  const { all, onEvent } = events();
  const server = serve(quick, { store: await leftTurn(), restart: 'rerun', onEvent });
  const task = await until(server, 't', 'COMPLETED');
  expect(task.status.message?.parts).toEqual([{ text: 'In attempt 2' }]);
  expect(all).toEqual([
    ['taken-over', 1, 3],
    ['rerun', 2, 3],
  ]);
});

it('a turn that is not run again ends its task, and had one attempt', async () => {
  const { all, onEvent } = events();
  const server = serve(quick, { store: await leftTurn(), restart: 'fail', onEvent });
  expect(await until(server, 't', 'FAILED')).toMatchObject(lost);
  expect(all).toEqual([['taken-over', 1, 1]]);
});

it.each([
  [true, 'FAILED'],
  [undefined, 'COMPLETED'],
])(
  'a turn whose attempts are over fails if they count, which those that ran alone do: %s',
  async (alone, state) => {
    const server = serve(quick, { store: await leftTurn(alone), restart: { maxAttempts: 1 } });
    const task = await until(server, 't', state);
    if (alone) expect(task).toMatchObject(lost);
  },
);

it('an agent that does not heed a cancel is left after its time, and its task is canceled', async () => {
  const { all, onEvent } = events();
  const server = serve(deaf(), { onEvent, timeouts: { cancelGraceMs: 1 } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  const canceled = await rpc(server, 'CancelTask', { id: task.id });
  expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  expect(all).toEqual([['cancel-forced', 1, 1]]);
});

it('a server that closes gives its turns to others, which is no take-over, or ends their tasks', async () => {
  for (const restart of ['rerun', 'fail'] as const) {
    const store = memoryStore();
    const { all, onEvent } = events();
    const reached = Promise.withResolvers<void>();
    const first = serve(deaf(reached.resolve), { store, restart, onEvent });
    const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration: now });
    await reached.promise;
    await first.close({ graceMs: 0 });
    const next = serve(quick, { store, restart, onEvent });
    if (restart === 'rerun') {
      await until(next, task.id, 'COMPLETED');
      expect(all).toEqual([['rerun', 2, 3]]);
    } else {
      const closed = failure('SERVER_CLOSED', 'The server closed before the task was done');
      expect(await until(next, task.id, 'FAILED')).toMatchObject(closed);
      expect(all).toEqual([]);
    }
  }
});

it('a task whose time is over fails, whether its agent works on it or not, and the agent is told why', async () => {
  let reason: unknown;
  const agent = taskAgent(async function* ({ signal }) {
    yield working();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    reason = signal.reason;
  });
  const { all, onEvent } = events();
  const late = failure('DEADLINE_EXCEEDED', 'The task took too long');
  const server = serve(agent, { timeouts: { taskMs: 50 }, onEvent });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  expect(await until(server, task.id, 'FAILED')).toMatchObject(late);
  await eventually(() => expect(reason).toMatchObject({ code: 'DEADLINE' }));
  const waits = serve(agent, { store: await leftTurn(), restart: 'rerun', timeouts: { taskMs: 1 } });
  expect(await until(waits, 't', 'FAILED')).toMatchObject(late);
  expect(all).toEqual([]);
});

it('a turn whose lease is gone is lost: its agent is told so, and nothing of it is written any more', async () => {
  const { all, onEvent } = events();
  // The server does not claim the task again.
  const store = change(memoryStore(), { renew: () => async () => [], claim: () => async () => [] });
  const reasons: unknown[] = [];
  const ran: string[] = [];
  const agent = taskAgent(async function* ({ step, signal }) {
    yield working('Before');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await step('one', () => ran.push('step')).catch((error) => reasons.push(error, signal.reason));
    yield completed();
  });
  const server = serve(agent, { store, restart: 'rerun', timeouts: { leaseMs: 30 }, onEvent });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  await eventually(() => expect(reasons).toHaveLength(2));
  await eventually(() => expect(server.load.turns).toBe(0));
  expect(reasons[0]).toBe(reasons[1]);
  expect(reasons[0]).toMatchObject({ code: 'FENCED', message: 'The task belongs to another process now' });
  expect([all, ran]).toEqual([[['lost', 1, 3]], []]);
  expect((await rpc(server, 'GetTask', { id: task.id })).status).toMatchObject({
    state: 'TASK_STATE_WORKING',
  });
});
