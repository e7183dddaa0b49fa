import { connect } from '@batonjs/client';
import {
  type Agent,
  append,
  artifact,
  completed,
  data,
  failed,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  taskAgent,
  text,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { type Loss, v03Client } from '../../src/index.ts';
import { serve } from '../serve.ts';

/** A client and a server that both speak both versions, and use one binding of 0.3. */
function pair(binding: string, agent: Agent = taskAgent(work)) {
  const losses: Loss[] = [];
  const onLoss = (loss: Loss) => losses.push(loss);
  const server = serve({ agent, push: { allow: ['127.0.0.1:*'] } }, { onLoss });
  const options = {
    fetch: server.fetch,
    compatibility: [v03Client({ onLoss })],
    binding,
    version: '0.3',
    retry: { firstMs: 1 },
  };
  return { server, losses, client: () => connect('http://localhost', options) };
}

async function* work({ text: said, messages, signal }: Turn): AsyncGenerator<TaskUpdate> {
  if (said === 'ask' && messages.length === 1) return yield inputRequired('Which currency?');
  yield working('On it');
  if (said === 'fail') return yield failed({ code: 'NO_LUCK', message: 'It did not work' });
  if (said === 'hold') await untilAborted(signal);
  if (signal.aborted) return;
  yield artifact('quote', '10 USD');
  yield append(
    { artifactId: 'quote', lastChunk: true },
    text('*is*', { mediaType: 'text/markdown' }),
    data([833]),
  );
  yield completed('Done');
}

describe.each(['JSONRPC', 'HTTP+JSON'])('a client and a server that use %s of 0.3', (binding) => {
  it('exchange messages and tasks without a loss', async () => {
    const { client, losses } = pair(binding);
    const agent = await client();
    expect(agent.interface).toMatchObject({ protocolBinding: binding, protocolVersion: '0.3' });
    const { task } = await agent.send('10 USD in INR');
    expect(task?.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { parts: [{ text: 'Done' }] },
    });
    expect(task?.artifacts).toEqual([
      {
        artifactId: 'quote',
        name: 'quote',
        parts: [{ text: '10 USD' }, { text: '*is*', mediaType: 'text/markdown' }, { data: [833] }],
      },
    ]);
    expect(await agent.getTask({ id: task!.id })).toEqual(task);
    expect((await agent.getTask({ id: task!.id, historyLength: 0 })).history).toBeUndefined();
    const { message } = await (await pair(binding, () => reply('Hello')).client()).send('Hi');
    expect(message).toMatchObject({ role: 'ROLE_AGENT', parts: [{ text: 'Hello' }] });
    expect(losses).toEqual([]);
  });

  it('stream, ask and answer', async () => {
    const agent = await pair(binding).client();
    const stream = agent.stream('ask');
    const { task } = await stream.result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const answered = await agent.stream('INR', { task: task! }).result();
    expect([answered.task?.id, answered.task?.status.state]).toEqual([task?.id, 'TASK_STATE_COMPLETED']);
    const kinds: string[] = [];
    for await (const event of agent.sendStreamingMessage({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] },
    }))
      kinds.push(Object.keys(event)[0]!);
    expect(kinds).toEqual(['task', 'statusUpdate', 'artifactUpdate', 'artifactUpdate', 'statusUpdate']);
  });

  it('follow tasks, also ones that have ended, and cancel them', async () => {
    const agent = await pair(binding).client();
    const { task } = await agent.send('hold', { returnImmediately: true });
    const followed = agent.follow(task!).result();
    const canceled = await agent.task(task!).cancel();
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect((await followed).task?.status.state).toBe('TASK_STATE_CANCELED');
    expect((await agent.follow(task!).result()).task?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('make the same errors as in 1.0', async () => {
    const agent = await pair(binding).client();
    const { task } = await agent.send('fail');
    expect(task?.status.message?.parts).toEqual([
      { text: 'It did not work' },
      { data: { code: 'NO_LUCK', message: 'It did not work' }, mediaType: 'application/json' },
    ]);
    await expect(agent.getTask({ id: 'missing' })).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
      metadata: { taskId: 'missing' },
    });
    await expect(agent.task(task!).cancel()).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
    await expect(agent.send('more', { task: task! })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
    const listen = async () => {
      for await (const _ of agent.subscribeToTask({ id: 'missing' }));
    };
    await expect(listen()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await expect(
      agent.sendMessage({ message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }),
    ).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      details: [{ fieldViolations: [expect.anything()] }],
    });
  });

  it('register, find, list and remove webhooks', async () => {
    const agent = await pair(binding).client();
    const { task } = await agent.send('go');
    const taskId = task!.id;
    const config = {
      taskId,
      id: 'mine',
      url: 'http://127.0.0.1:1/',
      token: 't',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    };
    expect(await agent.createTaskPushNotificationConfig(config)).toEqual(config);
    const { token: _, authentication: __, ...open } = config;
    expect(await agent.getTaskPushNotificationConfig({ taskId, id: 'mine' })).toMatchObject(open);
    expect((await agent.listTaskPushNotificationConfigs({ taskId })).configs).toMatchObject([open]);
    await agent.deleteTaskPushNotificationConfig({ taskId, id: 'mine' });
    expect((await agent.listTaskPushNotificationConfigs({ taskId })).configs).toEqual([]);
  });
});
