import { connect, conversation, textOf } from '@batonjs/client';
import { describe, expect, it } from 'vitest';
import { serveOfficial } from '../../../test/kit/official-server.ts';
import { collect, failureOf } from './serve.ts';

describe.each(['JSONRPC', 'HTTP+JSON'])('the official SDK as a peer on %s', (binding) => {
  const options = { binding, retry: { firstMs: 1, longestMs: 20 } };

  it('is sent to, asked for tasks, and makes the same errors', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.send('10 USD in INR');
    expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(task?.artifacts?.[0])).toBe('10 USD is 833 INR');
    expect((await agent.getTask({ id: task!.id })).id).toBe(task?.id);
    expect((await agent.listTasks({ contextId: task!.contextId })).tasks.map(({ id }) => id)).toEqual([
      task?.id,
    ]);
    expect((await failureOf(agent.getTask({ id: 'missing' }))).reason).toBe('TASK_NOT_FOUND');
    expect((await failureOf(agent.task(task!).cancel())).reason).toBe('TASK_NOT_CANCELABLE');
    expect((await failureOf(agent.send('more', { task: task! }))).reason).toBe('UNSUPPORTED_OPERATION');
    expect((await failureOf(collect(agent.subscribeToTask({ id: task!.id })))).reason).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('asks and is answered, by the same call and by a stream', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.stream('ask').result();
    expect(task?.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(conversation(task!).map((message) => textOf(message))).toEqual(['ask', 'Which currency?']);
    const answered = await agent.stream('INR', { task: task! }).result();
    expect([answered.task?.id, answered.task?.status.state]).toEqual([task?.id, 'TASK_STATE_COMPLETED']);
  });

  it('is followed through a broken connection, without positions', async () => {
    const { url, release, drop } = await serveOfficial();
    const agent = await connect(url, options);
    const stream = agent.stream('hold');
    let broken = false;
    for await (const { artifactUpdate, task } of stream) {
      if (artifactUpdate && !broken) {
        broken = true;
        drop();
      } else if (broken && task) release();
    }
    expect(stream.task?.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(stream.task?.artifacts?.[0])).toBe('10 USD is 833 INR');
  });

  it('cancels', async () => {
    const agent = await connect((await serveOfficial()).url, options);
    const { task } = await agent.send('hold', { returnImmediately: true });
    expect((await agent.task(task!).cancel()).status.state).toBe('TASK_STATE_CANCELED');
  });
});
