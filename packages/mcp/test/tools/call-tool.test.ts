import { TASK_PROGRESS } from '@batonjs/extensions';
import { type Agent, completed, type Message, reply, type Turn } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { describe, expect, it } from 'vitest';
import { mustBeClient2 } from '../../src/tools/mcp-client.ts';
import {
  type CallToolOptions,
  callTool,
  type McpClient,
  mcpTools,
  ToolError,
  type ToolResult,
} from '../../src/tools.ts';

type Options = Parameters<McpClient['callTool']>[1];
interface Called {
  readonly params: Parameters<McpClient['callTool']>[0];
  readonly options: NonNullable<Options>;
}

const text = (words: string): ToolResult => ({ content: [{ type: 'text', text: words }] });

/** A client of MCP whose tool does this, and its calls. */
function clientOf(perform: (called: Called, number: number) => unknown) {
  const calls: Called[] = [];
  const client: McpClient = {
    async callTool(params, options = {}) {
      calls.push({ params, options });
      return (await perform(calls.at(-1)!, calls.length)) as ToolResult;
    },
    async listTools(_, options) {
      return { tools: [{ name: 'one', title: String(options?.signal?.aborted), inputSchema: {} }] };
    },
  };
  return { client, calls };
}

/** An agent that calls a tool, and ends with the text that it gave. */
const calling = (client: McpClient, args?: object, options?: CallToolOptions): Agent =>
  async function* (turn) {
    const result = yield* callTool(turn, client, 'look', args as Record<string, unknown>, options);
    yield completed(JSON.stringify(result.content));
  };

describe('a client of the SDK 1', () => {
  const client = new Client1({ name: 'Old', version: '1' }) as unknown as McpClient;
  const advice =
    'This MCP client is one of `@modelcontextprotocol/sdk` 1: install `@modelcontextprotocol/client` 2, and import `Client` from it';

  it('is refused, with the package to install', async () => {
    let turn: Turn | undefined;
    await runTurn((given) => {
      turn = given;
      return reply('seen');
    }, 'go');
    await expect(mcpTools(turn!, client)).rejects.toThrow(new TypeError(advice));
    await expect(callTool(turn!, client, 'look').next()).rejects.toThrow(new TypeError(advice));
  });

  it('is told from one of the SDK 2', () => {
    expect(() => mustBeClient2(new Client2({ name: 'New', version: '1' }))).not.toThrow();
  });
});

describe('a call of a tool', () => {
  it('has the arguments, the signal of the turn, and waits as long as the tool reports', async () => {
    const { client, calls } = clientOf(() => text('seen'));
    const { signal } = new AbortController();
    await runTurn(calling(client, { query: 'x' }), 'go', { signal });
    await runTurn(calling(client, undefined, { timeoutMs: 5 }), 'go');
    expect(calls.map(({ params }) => params)).toStrictEqual([
      { name: 'look', arguments: { query: 'x' } },
      { name: 'look', arguments: {} },
    ]);
    expect(calls[0]!.options).toEqual({
      signal,
      timeout: 300_000,
      resetTimeoutOnProgress: true,
      allowInputRequired: true,
      onprogress: expect.any(Function),
    });
    expect(calls[1]!.options.timeout).toBe(5);
  });

  it('is a step with a number, or of the name that was given', async () => {
    const { client } = clientOf((_, n) => text(`call ${n}`));
    const agent: Agent = async function* (turn) {
      yield* callTool(turn, client, 'look');
      yield* callTool(turn, client, 'other');
      yield* callTool(turn, client, 'look');
      yield* callTool(turn, client, 'look', {}, { step: 'mine' });
      yield completed();
    };
    const { steps } = await runTurn(agent, 'go');
    expect(steps).toEqual({
      'mcp look 1': text('call 1'),
      'mcp other 1': text('call 2'),
      'mcp look 2': text('call 3'),
      mine: text('call 4'),
    });
  });

  it.each<[string, object, object | undefined]>([
    ['numbers and words', { progress: 1, total: 3, message: 'One' }, { progress: 1, total: 3 }],
    ['numbers', { progress: 0, total: 0 }, { progress: 0, total: 0 }],
    ['all', { progress: 3, total: 3 }, { progress: 3, total: 3 }],
    ['no total', { progress: 1 }, undefined],
    ['a number below zero', { progress: -1, total: 3 }, undefined],
    ['too much', { progress: 4, total: 3 }, undefined],
    ['no end', { progress: 1, total: Number.POSITIVE_INFINITY }, undefined],
  ])('whose tool reports %s updates the task', async (_what, report, aggregate) => {
    const { client } = clientOf(({ options }) => {
      options.onprogress?.(report as never);
      return text('seen');
    });
    const words = (report as { message?: string }).message ?? 'Calling look';
    const of = async (extensions: string[]) =>
      (await runTurn(calling(client), 'go', { extensions })).updates[0];
    expect(await of([TASK_PROGRESS])).toMatchObject({
      status: { state: 'TASK_STATE_WORKING', message: { parts: [{ text: words }] } },
    });
    const metadata = JSON.stringify(await of([TASK_PROGRESS]));
    if (aggregate) expect(metadata).toContain(JSON.stringify({ aggregate }));
    else expect(metadata).not.toContain('aggregate');
    expect(JSON.stringify(await of([]))).not.toContain('aggregate');
  });

  it('whose tool reports faster than updates are taken has the latest', async () => {
    const { client } = clientOf(async ({ options }) => {
      for (const message of ['one', 'two', 'three']) options.onprogress?.({ progress: 1, message });
      return text('seen');
    });
    const { updates } = await runTurn(calling(client), 'go');
    expect(JSON.stringify(updates)).toMatch(/three/);
    expect(updates).toHaveLength(2);
  });

  it.each<[string, ToolResult, string]>([
    ['with its words', { ...text('No city'), isError: true }, 'No city'],
    [
      'with all of its words',
      {
        content: [
          ...text('One').content,
          { type: 'image', data: '', mimeType: 'image/png' },
          ...text('Two').content,
        ],
        isError: true,
      },
      'One\n\nTwo',
    ],
    ['without words', { content: [], isError: true }, 'The tool "look" failed'],
  ])('throws what the tool reports %s', async (_what, result, message) => {
    const { client } = clientOf(() => result);
    const error = await runTurn(calling(client), 'go').catch((thrown: unknown) => thrown);
    expect(ToolError.is(error) && [error.name, error.tool, error.message, error.result]).toEqual([
      'ToolError',
      'look',
      message,
      result,
    ]);
  });

  it('throws why the client failed, which is no error of a tool', async () => {
    const failure = new Error('No connection');
    const { client } = clientOf(() => Promise.reject(failure));
    await expect(runTurn(calling(client), 'go')).rejects.toThrow('No connection');
    for (const other of [failure, null, undefined, 'ToolError']) expect(ToolError.is(other)).toBe(false);
  });
});

describe('a tool that asks', () => {
  const ask = (requests: object, requestState?: string) => ({
    resultType: 'input_required',
    inputRequests: requests,
    ...(requestState !== undefined && { requestState }),
  });
  const elicit = (message: string, more: object = {}) => ({
    method: 'elicitation/create',
    params: { message, ...more },
  });
  const user = (said: string) => ({ messageId: said, role: 'ROLE_USER' as const, parts: [{ text: said }] });

  /** Runs a turn for each answer, with all messages before it, and gives what the last one yielded. */
  async function converse(agent: Agent, answers: readonly string[]) {
    const messages: Message[] = [];
    for (const [n, said] of answers.entries()) {
      const { updates } = await runTurn(agent, user(said), { messages: [...messages] });
      const { status } = updates.at(-1) as unknown as { status: { state: string; message: never } };
      if (n === answers.length - 1) return { status, updates };
      messages.push(user(said), status.message);
    }
    throw new Error('No answers');
  }

  it('gets its answers one after the other, with its state, in the steps of the call', async () => {
    const { client, calls } = clientOf((_, n) =>
      n === 1 ? ask({ a: elicit('Sure?'), b: elicit('Really?') }, 'state 1') : text('done'),
    );
    const agent = calling(client, { x: 1 });
    expect((await converse(agent, ['go'])).status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: 'Sure?\nAnswer yes or no.' }] },
    });
    calls.length = 0;
    const { status } = await converse(agent, ['go', 'yes']);
    expect(status).toMatchObject({ message: { parts: [{ text: 'Really?\nAnswer yes or no.' }] } });
    calls.length = 0;
    const end = await converse(agent, ['go', 'yes', 'no']);
    expect(end.status.state).toBe('TASK_STATE_COMPLETED');
    expect(calls.map(({ params }) => params)).toStrictEqual([
      { name: 'look', arguments: { x: 1 } },
      {
        name: 'look',
        arguments: { x: 1 },
        inputResponses: { a: { action: 'accept', content: {} }, b: { action: 'decline' } },
        requestState: 'state 1',
      },
    ]);
  });

  it('has a step for each round', async () => {
    const { client, calls } = clientOf((_, n) => (n % 2 === 1 ? ask({ a: elicit('Sure?') }) : text('done')));
    const agent = calling(client);
    const first = await runTurn(agent, user('go'));
    const { message } = (first.updates.at(-1) as unknown as { status: { message: never } }).status;
    const { steps } = await runTurn(agent, user('yes'), { messages: [user('go'), message] });
    expect([Object.keys(first.steps), Object.keys(steps)]).toEqual([
      ['mcp look 1'],
      ['mcp look 1 after answer 1'],
    ]);
    expect(calls[1]!.params).toStrictEqual({
      name: 'look',
      arguments: {},
      inputResponses: { a: { action: 'accept', content: {} } },
    });
  });

  it('gives nothing to a caller that goes on after its question', async () => {
    const { client } = clientOf(() => ask({ a: elicit('Sure?') }));
    const turn = {
      messages: [],
      extensions: [],
      signal: new AbortController().signal,
      step: (_: string, fn: () => unknown) => fn(),
    } as unknown as Turn;
    const calling = callTool(turn, client, 'look');
    expect((await calling.next()).value).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(await calling.next()).toEqual({ done: true, value: { content: [], isError: true } });
  });

  it('ends a caller that goes on after its question, once the turn is over', async () => {
    const { client } = clientOf(() => ask({ a: elicit('Sure?') }));
    const stop = new AbortController();
    const turn = {
      messages: [],
      extensions: [],
      signal: stop.signal,
      step: (_: string, fn: () => unknown) => fn(),
    } as unknown as Turn;
    const calling = callTool(turn, client, 'look');
    await calling.next();
    stop.abort(new Error('Over'));
    await expect(calling.next()).rejects.toThrow('Over');
  });

  it('shows the address that it wants opened', async () => {
    const { client } = clientOf(() => ask({ a: elicit('Sign in', { url: 'https://a.example' }) }));
    expect((await converse(calling(client), ['go'])).status).toMatchObject({
      message: { parts: [{ text: 'Sign in\nhttps://a.example\nAnswer yes or no.' }] },
    });
  });

  it('shows only the question where it has fields', async () => {
    const requestedSchema = { type: 'object', properties: { city: { type: 'string' } } };
    const { client } = clientOf(() => ask({ a: elicit('Where?', { requestedSchema }) }));
    expect((await converse(calling(client), ['go'])).status).toMatchObject({
      message: { parts: [{ text: 'Where?' }] },
    });
  });

  it.each<[string, unknown, string]>([
    ['a model', { method: 'sampling/createMessage' }, 'sampling/createMessage'],
    ['nothing', null, 'undefined'],
  ])('fails where it asks for %s', async (_what, request, what) => {
    const { client } = clientOf(() => ask({ a: request }));
    await expect(runTurn(calling(client), 'go')).rejects.toThrow(
      `The tool "look" asks for ${what}, which a task cannot give`,
    );
  });

  it('is called again while it only puts the call off', async () => {
    const { client, calls } = clientOf((_, n) => (n === 1 ? ask(undefined as never, 'later') : text('done')));
    const { steps } = await runTurn(calling(client), 'go');
    expect(Object.keys(steps)).toEqual(['mcp look 1', 'mcp look 1 after answer 1']);
    expect(calls[1]!.params).toStrictEqual({
      name: 'look',
      arguments: {},
      inputResponses: {},
      requestState: 'later',
    });
  });

  it('is not called again once the turn is over', async () => {
    const stop = new AbortController();
    const { client, calls } = clientOf(() => {
      stop.abort(new Error('Over'));
      return ask({}, 'later');
    });
    await expect(runTurn(calling(client), 'go', { signal: stop.signal })).rejects.toThrow('Over');
    expect(calls).toHaveLength(1);
  });
});

it('the tools of a server are read with the signal of the turn, and called as any other', async () => {
  const { client, calls } = clientOf(() => text('seen'));
  const agent = async function* (turn: Turn) {
    const [one] = await mcpTools(turn, client);
    const result = yield* one!.call({ a: 1 }, { step: 'mine' });
    yield completed(`${one!.name} ${one!.title} ${JSON.stringify(result.content)}`);
  };
  const { updates, steps } = await runTurn(agent as Agent, 'go');
  expect(JSON.stringify(updates)).toContain('one false');
  expect(Object.keys(steps)).toEqual(['mine']);
  expect(calls[0]!.params).toEqual({ name: 'one', arguments: { a: 1 } });
});
