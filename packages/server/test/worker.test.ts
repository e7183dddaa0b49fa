import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { until } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { completed, inputRequired, taskAgent, working } from '../src/index.ts';
import { createWorker } from '../src/worker.ts';

/** A server that leaves its turns to workers, whose turns end when the test says so, or when they are told to. */
function start() {
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  const agent = taskAgent(async function* ({ signal }) {
    yield working();
    await Promise.race([gate.promise, untilAborted(signal)]);
    yield completed();
  });
  const server = serve(agent, { store, run: 'workers' });
  const work = () => {
    const worker = createWorker({ agent, store, logger: () => {} });
    onTestFinished(() => worker.close({ graceMs: 0 }));
    return worker;
  };
  const send = async () => {
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    return task.id as string;
  };
  return { server, work, send, gate };
}

it('a worker that closes lets its turns end, and claims nothing more', async () => {
  const { server, work, send, gate } = start();
  const worker = work();
  const first = await send();
  await until(server, first, 'WORKING');
  expect(worker.running).toBe(1);
  const closing = worker.close();
  const second = await send();
  gate.resolve();
  await closing;
  expect(worker.running).toBe(0);
  expect(await rpc(server, 'GetTask', { id: first })).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
  });
  expect(await rpc(server, 'GetTask', { id: second })).toMatchObject({
    status: { state: 'TASK_STATE_SUBMITTED' },
  });
  work();
  await until(server, second, 'COMPLETED');
});

it('a worker that may not wait ends its turns', async () => {
  const { server, work, send } = start();
  const worker = work();
  const id = await send();
  await until(server, id, 'WORKING');
  await worker.close({ graceMs: 0 });
  await until(server, id, 'FAILED');
});

it('a server that leaves its turns to workers does not start one for an answer either', async () => {
  const store = memoryStore();
  const ranIn: string[] = [];
  const agentIn = (place: string) =>
    taskAgent(async function* ({ text }) {
      ranIn.push(place);
      if (text === 'go') yield inputRequired('Well?');
      else yield completed();
    });
  const server = serve(agentIn('server'), { store, run: 'workers' });
  const work = () => {
    const worker = createWorker({ agent: agentIn('worker'), store, logger: () => {} });
    onTestFinished(() => worker.close({ graceMs: 0 }));
    return worker;
  };
  const worker = work();
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await worker.close();
  const configuration = { returnImmediately: true };
  await rpc(server, 'SendMessage', { message: { ...say('well'), taskId: task.id }, configuration });
  expect(server.load.turns).toBe(0);
  work();
  await until(server, task.id, 'COMPLETED');
  expect(ranIn).toEqual(['worker', 'worker']);
});
