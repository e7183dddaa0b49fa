import { createServer, type Server } from 'node:http';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { createTaskGateway } from '@batonjs/task-gateway';
import {
  type ConnectTasksOptions,
  connectTasks,
  type TaskClient,
  TaskError,
} from '@batonjs/task-gateway/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { freePort } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { serveTasks } from './service.ts';

const closing = (client: TaskClient): TaskClient => {
  onTestFinished(() => client.close());
  return client;
};

/** An agent that reports 0, 25, 50 and 75 percent, and waits before each of them. */
function slowAgent() {
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const agent = async function* () {
    for (const [n, gate] of gates.entries()) {
      await gate.promise;
      yield working(`Part ${n}`, progress(n, gates.length));
    }
    yield completed('Done');
  };
  const extended = extend({ card: { name: 'Slow', description: 'Works in parts' }, agent }, taskProgress);
  const work = closedAfterTest(createAgentServer({ ...extended, store: memoryStore(), logger: () => {} }));
  return { work, gates };
}

describe.each<[string, ConnectTasksOptions]>([
  ['over a WebSocket', {}],
  ['over a WebSocket with batches', { query: { batchMs: '1' } }],
  ['by polling', { openSocket: false }],
  [
    'where a WebSocket is refused',
    { openSocket: (url) => new WebSocket(url.replace('/task/updates', '/elsewhere')) },
  ],
])('%s', (_, options) => {
  it('submits a task, watches it to its end, and reads it', async () => {
    const { work, gates } = slowAgent();
    const service = await serveTasks({ types: { work } });
    const client = closing(connectTasks(service.url, options));
    const task = await client.submit({ taskId: 'a/b', type: 'work', data: { n: 1 } });
    expect(task).toMatchObject({ taskId: 'a/b', type: 'work', data: { n: 1 } });
    const seen: number[] = [];
    let last: unknown;
    for (const gate of gates.slice(0, 1)) gate.resolve();
    for await (const update of client.watch('a/b')) {
      expect(update).toMatchObject({ event: 'task_update', taskId: 'a/b' });
      seen.push(update.sequence);
      last = update;
      for (const gate of gates) gate.resolve();
    }
    expect(last).toMatchObject({ status: 'completed', result: { text: 'Done' } });
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    expect(await client.get('a/b')).toMatchObject({ status: 'completed', sequence: seen.at(-1) });
    const { transitions } = (await service.get('/task/a%2Fb/history')).body;
    const all = transitions.map(({ sequence }: { sequence: number }) => sequence);
    expect(seen).toEqual(all.slice(all.indexOf(seen[0])));
    expect(await client.submit({ taskId: 'a/b', type: 'work', data: { n: 1 } })).toMatchObject({
      status: 'completed',
    });
  });

  it('answers, cancels, and rejects with the code of the gateway', async () => {
    const asking = serve(async function* ({ messages, text }) {
      if (messages.length === 1) return yield inputRequired('How much?');
      yield completed(`You said ${text}`);
    });
    const service = await serveTasks({ types: { asking } });
    const client = closing(connectTasks(`${service.url}/`, options));
    const { taskId } = await client.submit({ type: 'asking', data: {} });
    let result: unknown;
    for await (const { form, ...update } of client.watch(taskId)) {
      if (form) await client.answer(taskId, { text: '5' }, form.formId);
      result = update.result;
    }
    expect(result).toEqual({ text: 'You said 5' });
    const other = await client.submit({ type: 'asking', data: {} });
    expect(await client.cancel(other.taskId)).toMatchObject({ status: 'canceled' });
    const refused = async (attempt: Promise<unknown>, code: string) =>
      expect(TaskError.is(await attempt.catch((error) => error), code)).toBe(true);
    await refused(client.cancel(taskId), 'TASK_NOT_CANCELABLE');
    await refused(client.submit({ taskId, type: 'other', data: {} }), 'TASK_CONFLICT');
    await refused(client.get('none'), 'TASK_NOT_FOUND');
    await refused(client.watch('none').next(), 'TASK_NOT_FOUND');
  });
});

it('goes on by itself when its gateway dies and another one takes the port, and misses and repeats nothing', async () => {
  const { work, gates } = slowAgent();
  const store = memoryStore();
  const port = await freePort();
  const start = async () => {
    const gateway = closedAfterTest(createTaskGateway({ types: { work }, store, logger: () => {} }));
    const listener: Server = createServer(nodeHandler(gateway));
    gateway.attach(listener);
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void listener.close().closeAllConnections());
    return { gateway, listener };
  };
  const first = await start();
  const client = closing(connectTasks(`http://127.0.0.1:${port}`));
  await client.submit({ taskId: 't', type: 'work', data: {} });
  const seen: number[] = [];
  for await (const { sequence, progress } of client.watch('t', { after: 0 })) {
    seen.push(sequence);
    if (progress === undefined) gates[0]!.resolve();
    if (progress === 0) {
      await first.gateway.close({ graceMs: 0 });
      first.listener.close().closeAllConnections();
      for (const gate of gates) gate.resolve();
      await start();
    }
  }
  const response = await fetch(`http://127.0.0.1:${port}/task/t/history`);
  const { transitions } = (await response.json()) as { transitions: { sequence: number }[] };
  expect(seen).toEqual(transitions.map(({ sequence }) => sequence));
});

it('shares one WebSocket between watches, also of the same task', async () => {
  const { work, gates } = slowAgent();
  const service = await serveTasks({ types: { work } });
  let opened = 0;
  const openSocket = (url: string) => {
    opened += 1;
    return new WebSocket(url);
  };
  const client = closing(connectTasks(service.url, { openSocket }));
  await client.submit({ taskId: 't', type: 'work', data: {} });
  const sequencesOf = async (after?: number) => {
    const seen: number[] = [];
    for await (const { sequence } of client.watch('t', { after })) seen.push(sequence);
    return seen;
  };
  const watches = [sequencesOf(0), sequencesOf(0), sequencesOf()];
  for (const gate of gates) gate.resolve();
  const [one, two, three] = await Promise.all(watches);
  expect(two).toEqual(one);
  expect(one!.slice(-1)).toEqual(three!.slice(-1));
  expect(opened).toBe(1);
});

it('ends a watch that is aborted, and rejects with NETWORK when the gateway stays out of reach', async () => {
  const { work } = slowAgent();
  const service = await serveTasks({ types: { work } });
  const client = closing(connectTasks(service.url));
  await client.submit({ taskId: 't', type: 'work', data: {} });
  const abort = new AbortController();
  const watch = client.watch('t', { signal: abort.signal });
  expect((await watch.next()).value).toMatchObject({ status: 'created' });
  const next = watch.next();
  abort.abort(new Error('Enough'));
  await expect(next).rejects.toThrow('Enough');
  const nowhere = connectTasks(`http://127.0.0.1:${await freePort()}`, { retryForMs: 50 });
  await expect(nowhere.get('t')).rejects.toMatchObject({ code: 'NETWORK' });
});
