import { once } from 'node:events';
import { type AgentClient, connect, dataOf, textOf } from '@batonjs/client';
import type { CallingAgent, CallOptions } from '@batonjs/nested-tasks';
import { completed, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { clientOf, serveParent, statesOf, tasksOf } from './family.ts';

/** A child that works until it is released. `signals` are those of its turns. */
function held(idempotency = true) {
  const released = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const server = serve(
    async function* ({ signal }) {
      signals.push(signal);
      yield working('Working');
      await Promise.race([released.promise, signal.aborted || once(signal, 'abort')]);
      yield completed('Done');
    },
    { messages: { idempotency } },
  );
  return { server, signals, release: released.resolve };
}

/** A parent of which each process calls through a client of its own. */
function parentOf(open: () => Promise<AgentClient>, options: Partial<CallOptions> = {}) {
  const store = memoryStore();
  const agent: CallingAgent = async function* (turn) {
    const { task } = await turn.call(await open(), 'Go', { name: 'child', ...options });
    yield completed(textOf(task?.status.message));
  };
  return () => serveParent(agent, {}, { store });
}

it('a parent whose process is closed leaves its children alone, and the next process goes on with them', async () => {
  const child = held();
  const start = parentOf(() => clientOf(child.server));
  const first = start();
  const { task } = await (await clientOf(first)).send('Go', { returnImmediately: true });
  await eventually(async () => expect(await statesOf(child.server)).toEqual(['WORKING']));
  await first.close({ graceMs: 0 });
  expect(child.signals.map(({ aborted }) => aborted)).toEqual([false]);
  expect(await statesOf(child.server)).toEqual(['WORKING']);
  const client = await clientOf(start());
  child.release();
  const ended = (await client.follow(task!.id).result()).task;
  expect(textOf(ended?.status.message)).toBe('Done');
  expect(child.signals).toHaveLength(1);
});

it('a child that its agent cannot list for now is not started again, although that is allowed', async () => {
  const child = held(false);
  let isFirst = true;
  /** The answer to the first message never arrives; later the agent is too busy to list its tasks. */
  const fetchOrNot = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return child.server.fetch(request);
    const { id, method } = await request.clone().json();
    if (method === 'ListTasks') {
      const error = { code: -32603, message: 'Busy', data: [info('UNAVAILABLE')] };
      return Response.json({ jsonrpc: '2.0', id, error });
    }
    const response = await child.server.fetch(request);
    if (!isFirst) return response;
    isFirst = false;
    return new Promise(() => {});
  };
  const open = () => connect('http://localhost', { fetch: fetchOrNot, retry: false });
  const start = parentOf(open, { resend: true });
  const first = start();
  const { task } = await (await clientOf(first)).send('Go', { returnImmediately: true });
  await eventually(async () => expect(await statesOf(child.server)).toEqual(['WORKING']));
  await first.close({ graceMs: 0 });
  const ended = (await (await clientOf(start())).follow(task!.id).result()).task;
  expect(dataOf(ended?.status.message)).toMatchObject({ code: 'CALL_UNREACHABLE' });
  expect(await tasksOf(child.server)).toHaveLength(1);
});

it('all answers that no process could pass on reach the child, in their order', async () => {
  const child = serve(async function* ({ messages }) {
    const answers = messages.filter(({ role }) => role === 'ROLE_USER').slice(1);
    if (answers.length < 2) return yield inputRequired('Which?');
    yield completed(answers.map((message) => textOf(message)).join(' '));
  });
  let isHeld = false;
  const fetchOrHold = async (request: Request): Promise<Response> =>
    isHeld ? new Promise(() => {}) : child.fetch(request);
  const start = parentOf(() => connect('http://localhost', { fetch: fetchOrHold }));
  const first = start();
  const client = await clientOf(first);
  const { task } = await client.send('Go');
  expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  isHeld = true;
  for (const text of ['one', 'two']) await client.send(text, { task: task!, returnImmediately: true });
  await first.close({ graceMs: 0 });
  isHeld = false;
  const ended = (await (await clientOf(start())).follow(task!.id).result()).task;
  expect(textOf(ended?.status.message)).toBe('one two');
});

const info = (reason: string) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'a2a-protocol.org',
});
