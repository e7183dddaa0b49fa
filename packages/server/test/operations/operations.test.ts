import type { Task } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { type Agent, artifact, completed, inputRequired, reply, text, working } from '../../src/index.ts';

const worker: Agent = async function* ({ text: said }) {
  yield working('Looking');
  yield artifact('answer', text(`You said ${said}`));
  yield completed('Done');
};

describe('ListTasks', () => {
  const page = { includeArtifacts: true };

  it('leaves out a task that was pruned since the page was read', async () => {
    const store = memoryStore();
    let pruned = '';
    const load: TaskStore['load'] = async (scope, id) => (id === pruned ? undefined : store.load(scope, id));
    const server = serve(worker, { store: { ...store, load } });
    const send = async () => (await rpc(server, 'SendMessage', { message: say('hi') })).task.id as string;
    pruned = await send();
    const kept = await send();
    const { tasks, totalSize, nextPageToken } = await rpc(server, 'ListTasks', page);
    expect([tasks.map(({ id }: Task) => id), totalSize, nextPageToken]).toEqual([[kept], 2, '']);
  });

  it('shows one task at least, however little a reply may hold', async () => {
    const server = serve(worker, { limits: { replyBytes: 2_000 } });
    const message = say('x'.repeat(3_000));
    for (let n = 0; n < 2; n++)
      await rpc(server, 'SendMessage', { message: { ...message, messageId: `m${n}` } });
    const first = await rpc(server, 'ListTasks', page);
    expect(first.tasks).toHaveLength(1);
    const second = await rpc(server, 'ListTasks', { ...page, pageToken: first.nextPageToken });
    expect(second.tasks).toHaveLength(1);
    expect(second.tasks[0].id).not.toBe(first.tasks[0].id);
    expect(second.nextPageToken).toBe('');
  });
});

describe('SendMessage', () => {
  it('waits for the end and returns the task with all it made [R-SEND-03] [R-SEND-04]', async () => {
    const server = serve(worker);
    const { task } = await rpc(server, 'SendMessage', { message: say('hi') });
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'Done' }] } },
      artifacts: [{ artifactId: 'answer', name: 'answer', parts: [{ text: 'You said hi' }] }],
    });
    expect(task.history.map((m: { parts: [{ text: string }] }) => m.parts[0].text)).toEqual([
      'hi',
      'Looking',
    ]);
    expect(await rpc(server, 'GetTask', { id: task.id })).toEqual(task);
  });

  it('answers small talk with a message [R-SEND-20]', async () => {
    const server = serve(() => reply('Hello'));
    const { message } = await rpc(server, 'SendMessage', { message: say('hi') });
    expect(message).toMatchObject({
      role: 'ROLE_AGENT',
      parts: [{ text: 'Hello' }],
      contextId: expect.any(String),
    });
    expect(message.taskId).toBeUndefined();
  });

  it('asks, and goes on with the same task when it is answered', async () => {
    const server = serve(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Which one?');
      yield completed(`Took ${messages.length}`);
    });
    const first = await rpc(server, 'SendMessage', { message: say('one of those') });
    expect(first.task.status).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
    const second = await rpc(server, 'SendMessage', { message: say('that', { taskId: first.task.id }) });
    expect(second.task).toMatchObject({ id: first.task.id, status: { state: 'TASK_STATE_COMPLETED' } });
  });
});

describe('SendStreamingMessage', () => {
  it('starts with the task and ends with its end [R-STR-01] [R-STR-02]', async () => {
    const server = serve(worker);
    expect(await collect(stream(server, 'SendStreamingMessage', { message: say('hi') }))).toEqual([
      'task SUBMITTED',
      'WORKING',
      'answer:You said hi',
      'COMPLETED',
    ]);
  });
});

describe('CancelTask', () => {
  it('stops the agent through its signal [R-CAN-01]', async () => {
    let stopped = false;
    const server = serve(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
      stopped = true;
    });
    const { task } = await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    const canceled = await rpc(server, 'CancelTask', { id: task.id });
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    expect(stopped).toBe(true);
  });

  it('ends a task that waits for input', async () => {
    const server = serve(async function* () {
      yield inputRequired('Well?');
    });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
    await expect(
      rpc(server, 'SendMessage', { message: say('more', { taskId: task.id }) }),
    ).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });
});
