import type { TaskState } from '@batonjs/protocol';
import { completed, failed, inputRequired, rejected, type Updates } from '@batonjs/server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toMcpTask } from '../src/server/task-methods.ts';
import { serveAgent, serveMcp } from './clients.ts';

describe('a task of MCP', () => {
  const timestamp = '2026-01-01T00:00:00.000Z';

  it.each<[TaskState, string]>([
    ['TASK_STATE_SUBMITTED', 'working'],
    ['TASK_STATE_WORKING', 'working'],
    ['TASK_STATE_COMPLETED', 'completed'],
    ['TASK_STATE_FAILED', 'failed'],
    ['TASK_STATE_REJECTED', 'failed'],
    ['TASK_STATE_CANCELED', 'cancelled'],
    ['TASK_STATE_INPUT_REQUIRED', 'input_required'],
    ['TASK_STATE_AUTH_REQUIRED', 'input_required'],
  ])('that is %s in A2A is %s', (state, status) => {
    expect(toMcpTask({ id: 't', contextId: 'c', status: { state, timestamp } })).toEqual({
      taskId: 't',
      status,
      ttl: null,
      createdAt: timestamp,
      lastUpdatedAt: timestamp,
      pollInterval: 1_000,
    });
  });

  it('says when it began where its id does, as the ids of Baton', () => {
    const status = { state: 'TASK_STATE_WORKING' as const, timestamp };
    expect(toMcpTask({ id: '019ab2d4-5e6f-7abc-8def-0123456789ab', contextId: 'c', status })).toMatchObject({
      createdAt: new Date(0x019ab2d45e6f).toISOString(),
      lastUpdatedAt: timestamp,
    });
  });

  it('has the words of its status', () => {
    const parts = [{ text: 'Half ' }, { data: { n: 1 } }, { text: 'done' }];
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts };
    const status = { state: 'TASK_STATE_WORKING' as const, message };
    expect(toMcpTask({ id: 't', contextId: 'c', status })).toMatchObject({
      statusMessage: 'Half done',
      createdAt: '1970-01-01T00:00:00.000Z',
    });
  });

  it('is read, listed in pages, and canceled unless it has ended', async () => {
    const { agent } = await serveAgent({
      card: {
        name: 'Test',
        description: 'Ends',
        skills: [{ id: 's', name: 'S', description: 'Ends', tags: [] }],
      },
      async *agent({ text }): Updates {
        if (text === 'complete') yield completed('Done');
        else if (text === 'fail') yield failed('No');
        else if (text === 'reject') yield rejected('Never');
        else yield inputRequired('Which?');
      },
    });
    const { url } = await serveMcp(agent);
    const client = new Client({ name: 'test', version: '1' });
    // biome-ignore lint/suspicious/noExplicitAny: the SDK's own types disagree about exact optional members.
    await client.connect(new StreamableHTTPClientTransport(url) as any);
    onTestFinished(() => client.close());
    const { tasks } = client.experimental;
    const ids: Record<string, string> = {};
    for (const text of ['complete', 'fail', 'reject', 'ask']) ids[text] = (await agent.send(text)).task!.id;
    expect(await tasks.getTask(ids.ask!)).toMatchObject({ taskId: ids.ask, status: 'input_required' });
    expect(await tasks.getTask(ids.fail!)).toMatchObject({ status: 'failed', statusMessage: 'No' });
    const listed = await tasks.listTasks();
    expect(listed.tasks.map(({ taskId }) => taskId).sort()).toEqual(Object.values(ids).sort());
    expect(listed).not.toHaveProperty('nextCursor');
    for (const [text, status] of [
      ['complete', 'completed'],
      ['fail', 'failed'],
      ['reject', 'failed'],
    ])
      await expect(tasks.cancelTask(ids[text!]!)).rejects.toThrow(`The task has ended already: ${status}`);
    expect(await tasks.cancelTask(ids.ask!)).toMatchObject({ status: 'cancelled' });
    await expect(tasks.getTask('none')).rejects.toThrow('Task not found');
  });
});
