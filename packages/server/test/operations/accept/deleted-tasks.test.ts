import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { connect } from '@batonjs/client';
import { eraseTasks } from '@batonjs/operator';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../../../../../test/kit/closed-after-test.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { completed } from '../../../src/index.ts';
import { insideOf } from '../../../src/internals.ts';

const stores = {
  memory: () => memoryStore({ closedBytes: 1 }),
  SQLite: () => sqliteStore(':memory:'),
};

describe.each(Object.entries(stores))('a message that is sent again, with %s', (_, open) => {
  const serveCounting = () => {
    const runs: string[] = [];
    const server = serve(
      async function* ({ text }) {
        runs.push(text);
        yield completed();
      },
      { store: closedAfterTest(open()), messages: { idempotency: true } },
    );
    const send = (message: object) => rpc(server, 'SendMessage', { message });
    const prune = () => server.prune({ closedBefore: Date.now() + 60_000 });
    return { server, runs, send, prune };
  };

  it('does not run the work again after its task was pruned, erased or made room for others', async () => {
    const { server, runs, send, prune } = serveCounting();
    const [pruned, erased] = [say('pruned'), say('erased')];
    for (const message of [pruned, erased]) {
      const { task } = await send(message);
      if (message === erased) await eraseTasks(server, { taskId: task.id });
    }
    await prune();
    for (const message of [pruned, erased])
      await expect(send(message)).rejects.toMatchObject({
        reason: 'TASK_NOT_FOUND',
        message: 'The message was received before, and its task was deleted',
      });
    expect(runs).toEqual(['pruned', 'erased']);
  });

  it('is sent once by the client, to which the refusal is no reason to try again', async () => {
    const { server, runs, prune } = serveCounting();
    let requests = 0;
    const fetch = (...given: Parameters<typeof server.fetch>) => {
      requests += 1;
      return server.fetch(...given);
    };
    const client = await connect('http://localhost', { fetch });
    const message = say('work');
    await client.sendMessage({ message });
    await prune();
    requests = 0;
    for (const call of [
      () => client.sendMessage({ message }),
      () => client.sendStreamingMessage({ message })[Symbol.asyncIterator]().next(),
    ])
      await expect(call()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect([requests, runs]).toEqual([2, ['work']]);
  });

  it.each([
    [
      'a chat',
      chatHandler,
      { id: 'c', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'work' }] }] },
    ],
    [
      'a front end of AG-UI',
      agUiHandler,
      { threadId: 'c', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'work' }] },
    ],
  ])('tells %s that its task was deleted', async (_, handlerOf, body) => {
    const { server, runs, prune } = serveCounting();
    const handler = handlerOf(server);
    const post = async () => {
      const headers = { 'content-type': 'application/json' };
      const request = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await handler.fetch(new Request('http://localhost/', request))).text();
    };
    expect(await post()).not.toContain('rror');
    await prune();
    expect(await post()).toContain('The message was received before, and its task was deleted');
    expect(runs).toEqual(['work']);
  });

  it('is no error of a program that submits it again, unless it names the task', async () => {
    const { server, runs, prune } = serveCounting();
    const message = { messageId: 'm', role: 'ROLE_USER' as const, parts: [{ text: 'work' }] };
    const submit = (more = {}) => insideOf(server)!.submit({ message: { ...message, ...more } }, undefined);
    await submit();
    await expect.poll(() => runs).toEqual(['work']);
    const client = await connect('http://localhost', { fetch: server.fetch });
    const taskOf = async () => (await client.listTasks({})).tasks[0];
    await expect.poll(async () => (await taskOf())?.status.state).toBe('TASK_STATE_COMPLETED');
    const taskId = (await taskOf())!.id;
    await prune();
    await submit();
    await expect(submit({ taskId })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect([runs, await taskOf()]).toEqual([['work'], undefined]);
  });

  it('runs the work again after all of its caller was erased', async () => {
    const { server, runs, send, prune } = serveCounting();
    const message = say('work');
    await send(message);
    await prune();
    await eraseTasks(server, {});
    expect((await send(message)).task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(runs).toEqual(['work', 'work']);
  });
});
