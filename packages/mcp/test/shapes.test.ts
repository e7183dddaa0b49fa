import type { Task, TaskState } from '@batonjs/protocol';
import { completed, failed, inputRequired, rejected, type Updates } from '@batonjs/server';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readFlags } from '../src/flags.ts';
import { toMcpTask } from '../src/server/task-methods.ts';
import { questionOf } from '../src/translation/question.ts';
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

describe('the form of a question', () => {
  /** What elicitation shows of a form. */
  const shown = (schema: object, initial?: object) => {
    const form = { formId: 'f', schema, ...(initial && { initial }) };
    const parts = [{ text: 'Which?' }, { data: form, mediaType: 'application/vnd.batonjs.form+json' }];
    const message = { messageId: 'm', role: 'ROLE_AGENT' as const, parts };
    const status = { state: 'TASK_STATE_INPUT_REQUIRED' as const, message };
    return questionOf({ id: 't', contextId: 'c', status } as unknown as Task).requestedSchema;
  };
  const oneField = {
    type: 'object',
    properties: { answer: { type: 'string', title: 'Answer' } },
    required: ['answer'],
  };

  it.each<[string, object, object | undefined, object]>([
    [
      'a format of a text',
      { x: { type: 'string', format: 'email' } },
      undefined,
      { x: { type: 'string', format: 'email' } },
    ],
    [
      'no format of a number',
      { x: { type: 'number', format: 'email' } },
      undefined,
      { x: { type: 'number' } },
    ],
    ['no unknown format', { x: { type: 'string', format: 'ipv4' } }, undefined, { x: { type: 'string' } }],
    [
      'a default',
      { x: { type: 'boolean', default: true } },
      undefined,
      { x: { type: 'boolean', default: true } },
    ],
    [
      'an initial value',
      { x: { type: 'integer', default: 1 } },
      { x: 7 },
      { x: { type: 'integer', default: 7 } },
    ],
    ['no value of another type', { x: { type: 'integer' } }, { x: 'seven' }, { x: { type: 'integer' } }],
    [
      'choices',
      { x: { type: 'string', enum: ['a', 'b'] } },
      undefined,
      { x: { type: 'string', enum: ['a', 'b'] } },
    ],
    ['one choice', { x: { type: 'string', const: 'a' } }, undefined, { x: { type: 'string', enum: ['a'] } }],
    [
      'bounds and words',
      { x: { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9, pattern: '^a' } },
      undefined,
      { x: { type: 'string', title: 'T', description: 'D', minLength: 1, maxLength: 9 } },
    ],
  ])('has %s', (_, properties, initial, flat) => {
    expect(shown({ type: 'object', properties }, initial)).toEqual({
      type: 'object',
      properties: flat,
      required: [],
    });
  });

  it('requires only fields that it has', () => {
    const schema = { type: 'object', properties: { x: { type: 'string' } }, required: ['x', 'y', 7] };
    expect(shown(schema)).toMatchObject({ required: ['x'] });
  });

  it.each<[string, object]>([
    ['lists', { x: { type: 'array', items: { type: 'string' } } }],
    ['objects', { x: { type: 'object', properties: {} } }],
    ['choices that are no texts', { x: { type: 'string', enum: ['a', 7] } }],
    ['choices of numbers', { x: { type: 'number', enum: [1, 2] } }],
    ['no fields', {}],
  ])('is one field of text if it has %s', (_, properties) => {
    expect(shown({ type: 'object', properties })).toEqual(oneField);
  });
});

describe('the flags of the program', () => {
  const url = 'https://agent.example';
  const read = (...args: string[]) => readFlags([url, ...args], { TOKEN: 'secret' });

  it('take names of hosts for a server that others reach, and for one of this machine', () => {
    const others = [
      '--http',
      '1',
      '--host',
      '0.0.0.0',
      '--allow-host',
      'a.example',
      '--allow-host',
      'b.example',
    ];
    expect(read(...others)).toMatchObject({
      http: { port: 1, host: '0.0.0.0', allowedHosts: ['a.example', 'b.example'] },
    });
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(read('--http', '1', '--host', host)).toMatchObject({ http: { host, allowedHosts: [] } });
    expect(read('--http', '1', '--allow-host', 'a.example')).toMatchObject({
      http: { host: '127.0.0.1', allowedHosts: ['a.example'] },
    });
    expect(() => read('--allow-host', 'a.example')).toThrow('--host and --allow-host need --http');
  });

  it('have headers without the spaces around them', () => {
    expect(read('--header', ' X-A :  b c ')).toMatchObject({ headers: { 'X-A': 'b c' } });
  });
});
