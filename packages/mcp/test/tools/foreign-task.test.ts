import { A2AError } from '@batonjs/client';
import { type Agent, completed, type Message, type Turn } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { waitForTask } from '../../src/tools/wait-for-task.ts';
import {
  type CallToolOptions,
  callTool,
  cancelToolTasks,
  type McpClient,
  ToolError,
} from '../../src/tools.ts';
import { type Answer, foreignServer, handle, question, task } from './foreign-server.ts';

const calling = (client: McpClient, options?: CallToolOptions): Agent =>
  async function* (turn) {
    const { content } = yield* callTool(turn, client, 'look', {}, options);
    yield completed(JSON.stringify(content));
  };

/** A server whose tool answers with a handle, and whose task then is each of these. */
const serverOf = (gets: readonly Answer[], started: object = handle(), name?: string) =>
  foreignServer({ 'tools/call': [started], 'tasks/get': gets }, name);

const failureOf = (agent: Agent) => runTurn(agent, 'go').catch((thrown: unknown) => thrown);
const done = task('completed', { result: { content: [{ type: 'text', text: 'Seen' }] } });
const unknown = { error: { code: -32_602, message: 'No such task' } };
const trouble = { error: { code: -32_603, message: 'Internal' } };
const openTasks = 'batonjs.dev/mcp-tasks';

describe('a task at the server of another maker', () => {
  it('is read until it ends, and its result is that of the tool', async () => {
    const { client, count } = await serverOf([task('working'), task('working'), done]);
    const { updates, memory } = await runTurn(calling(client), 'go');
    expect(JSON.stringify(updates.at(-1))).toContain('Seen');
    expect([count('tools/call'), count('tasks/get'), memory]).toEqual([1, 3, {}]);
  });

  it.each([
    ['failed, with what its error says', { error: { code: -1, message: 'No room' } }, 'failed: No room'],
    ['failed, without a reason', {}, 'failed: no reason given'],
  ])('that %s is a ToolError', async (_what, more, sentence) => {
    const { client } = await serverOf([task('failed', more)]);
    const error = await failureOf(calling(client));
    expect(ToolError.is(error) && error.message).toBe(`The tool "look" ${sentence}`);
  });

  it('that its server cancelled is a ToolError', async () => {
    const { client } = await serverOf([task('cancelled')]);
    const error = await failureOf(calling(client));
    expect(ToolError.is(error) && [error.message, error.tool]).toEqual([
      'The tool "look" was cancelled by its server',
      'look',
    ]);
  });

  it('that completed with an error of the tool is that error, and without a result has no content', async () => {
    const told = { content: [{ type: 'text', text: 'Full' }], isError: true };
    const { client } = await serverOf([task('completed', { result: told })]);
    const error = await failureOf(calling(client));
    expect(ToolError.is(error) && [error.message, error.result?.isError]).toEqual(['Full', true]);
    const empty = await serverOf([task('completed')]);
    const { updates } = await runTurn(calling(empty.client), 'go');
    expect(JSON.stringify(updates.at(-1))).toContain('[]');
  });

  it('tells what its status says, each text once', async () => {
    const say = (statusMessage: string) => task('working', { statusMessage });
    const { client } = await serverOf([say('One'), say('One'), say('Two'), task('working'), done]);
    const { updates } = await runTurn(calling(client), 'go');
    const words = updates.flatMap((update) => ('status' in update ? update.status.message?.parts : []) ?? []);
    expect(words).toMatchObject([
      { text: 'One' },
      { text: 'Two' },
      { text: expect.stringContaining('Seen') },
    ]);
  });

  it('that its server knows no more fails with TASK_NOT_FOUND, and is remembered no more', async () => {
    for (const answer of [unknown, { error: { code: -32_601, message: 'No tasks here' } }]) {
      const { client, count } = await serverOf([answer]);
      const error = await failureOf(calling(client));
      expect(A2AError.is(error, 'TASK_NOT_FOUND') && error.message).toBe(
        'The MCP server of the tool "look" has no task t-1 any more',
      );
      expect(count('tasks/get')).toBe(1);
    }
  });

  it('whose server is in trouble for a while goes on', async () => {
    const { client, count } = await serverOf([task('working'), trouble, trouble, done]);
    const { updates } = await runTurn(calling(client), 'go');
    expect(JSON.stringify(updates.at(-1))).toContain('Seen');
    expect(count('tasks/get')).toBe(4);
  });

  it('is given up at the first failure where unreachableMs is 0, also for an answer that is no task', async () => {
    for (const answer of [trouble, task('asleep'), { resultType: 'complete', status: 'working' }]) {
      const { client, count } = await serverOf([answer]);
      const error = await failureOf(calling(client, { unreachableMs: 0 }));
      expect(A2AError.is(error, 'UNAVAILABLE') && error.message).toBe(
        'The MCP server of the tool "look" was out of reach for 0 s',
      );
      expect(count('tasks/get')).toBe(1);
    }
  });

  it('with a handle that is none is refused as the client refuses it', async () => {
    const { client } = await serverOf([done], handle({ taskId: '' }));
    expect(String(await failureOf(calling(client)))).toContain("Unsupported result type 'task'");
  });
});

it('two tasks of tools in one turn are waited for one after the other, each with its own result', async () => {
  const result = (text: string) => task('completed', { result: { content: [{ type: 'text', text }] } });
  const { client } = await foreignServer({
    'tools/call': [handle(), handle({ taskId: 't-2' })],
    'tasks/get': [result('One'), result('Two')],
  });
  const received = client.transport?.onmessage;
  const agent: Agent = async function* (turn) {
    const first = yield* callTool(turn, client, 'look');
    const handled = client.transport?.onmessage;
    const second = yield* callTool(turn, client, 'look');
    // What lets handles through is put in once.
    yield completed(JSON.stringify([first.content, second.content, client.transport?.onmessage === handled]));
  };
  const { updates } = await runTurn(agent, 'go');
  expect(client.transport?.onmessage).not.toBe(received);
  expect(JSON.stringify(updates.at(-1)).replaceAll('\\', '')).toContain(
    '[[{"type":"text","text":"One"}],[{"type":"text","text":"Two"}],true]',
  );
});

describe('questions of a task at the server of another maker', () => {
  const form = { city: { type: 'string' } };
  const asks = (keys: readonly string[]) =>
    task('input_required', {
      inputRequests: Object.fromEntries(keys.map((key) => [key, question(`${key}?`, form)])),
    });
  const user = (said: string): Message => ({
    messageId: said,
    role: 'ROLE_USER',
    parts: [{ data: { city: said } }],
  });

  /** Runs a turn for each answer, with what the turn before it remembered. */
  async function converse(client: McpClient, answers: readonly string[]) {
    const messages: Message[] = [];
    const asked: string[] = [];
    let memory: Readonly<Record<string, unknown>> = {};
    let steps: Readonly<Record<string, unknown>> = {};
    for (const said of answers) {
      const ran = await runTurn(calling(client), user(said), { messages: [...messages], memory });
      ({ memory, steps } = ran);
      const last = ran.updates.at(-1) as unknown as { status: { message: Message } };
      const [part] = last.status.message.parts;
      asked.push(part && 'text' in part ? part.text : '');
      messages.push(user(said), last.status.message);
    }
    return { asked, memory, steps };
  }

  it('[R-MT-36] are asked once, although the server shows an answered one for a while', async () => {
    const { client, asked, count } = await foreignServer({
      'tools/call': [handle()],
      'tasks/get': [asks(['where']), asks(['where']), asks(['where']), task('working'), done],
    });
    const { asked: seen } = await converse(client, ['go', 'Rome']);
    expect(seen).toEqual(['where?', expect.stringContaining('Seen')]);
    expect(count('tasks/update')).toBe(1);
    expect(asked.find(({ method }) => method === 'tasks/update')?.params).toMatchObject({
      taskId: 't-1',
      inputResponses: { where: { action: 'accept', content: { city: 'Rome' } } },
    });
  });

  it('[R-MT-35] that come at once are asked one after the other, and answered together', async () => {
    const { client, asked } = await foreignServer({
      'tools/call': [handle()],
      'tasks/get': [asks(['from', 'to']), done],
    });
    const { asked: seen } = await converse(client, ['go', 'Rome', 'Oslo']);
    expect(seen).toEqual(['from?', 'to?', expect.stringContaining('Seen')]);
    expect(asked.filter(({ method }) => method === 'tasks/update').map(({ params }) => params)).toMatchObject(
      [
        {
          inputResponses: {
            from: { action: 'accept', content: { city: 'Rome' } },
            to: { action: 'accept', content: { city: 'Oslo' } },
          },
        },
      ],
    );
  });

  it('of a task that was forgotten meanwhile end it: TASK_NOT_FOUND', async () => {
    const { client } = await foreignServer({
      'tools/call': [handle()],
      'tasks/get': [asks(['where']), unknown],
      'tasks/update': [unknown],
    });
    const error = await converse(client, ['go', 'Rome']).catch((thrown: unknown) => thrown);
    expect(A2AError.is(error, 'TASK_NOT_FOUND')).toBe(true);
  });

  it('whose answer the server does not take now are not lost: the turn fails as the client does', async () => {
    const { client } = await foreignServer({
      'tools/call': [handle()],
      'tasks/get': [asks(['where'])],
      'tasks/update': [trouble],
    });
    await expect(converse(client, ['go', 'Rome'])).rejects.toMatchObject({ code: -32_603 });
  });
});

describe('a pause between two reads', () => {
  /** One try of the wait, with the memory of its turn. */
  async function tried(
    client: McpClient,
    started: object,
    {
      attempt = 1,
      turnAttempt = 1,
      longestPauseMs = 30_000,
      memory = {} as Record<string, unknown>,
      signal = new AbortController().signal,
      onStatus = () => {},
    } = {},
  ) {
    const kept = new Map(Object.entries(memory));
    const writes: unknown[] = [];
    const turn = {
      attempt: turnAttempt,
      memory: {
        get: (key: string) => kept.get(key),
        set: async (key: string, value: unknown) => {
          writes.push(value);
          kept.set(key, value);
        },
        delete: async (key: string) => {
          writes.push(undefined);
          kept.delete(key);
        },
      },
      step: (_name: string, _options: object, fn: (context: object) => Promise<unknown>) =>
        fn({ signal, attempt }),
    } as unknown as Turn;
    const wait = {
      tool: 'look',
      step: 's',
      waitStep: 's task',
      task: { taskId: 't-1', server: 'Foreign', ...started },
      longestPauseMs,
      unreachableMs: 600_000,
      onStatus,
    };
    const outcome = await waitForTask(turn, client, wait).catch((error: unknown) => error);
    return { outcome, writes, kept: Object.fromEntries(kept) };
  }

  it('[R-MT-38] begins before the first read where the server advises more than five seconds', async () => {
    const { client, count } = await serverOf([done]);
    const { outcome } = await tried(client, { pollIntervalMs: 20_000 });
    expect(outcome).toMatchObject({
      name: 'NotYet',
      message: 'The tool "look" works on its task',
      retryAfterMs: 20_000,
    });
    expect(count('tasks/get')).toBe(0);
    // A later try comes from a pause, and so does the first one of another attempt.
    for (const later of [{ attempt: 2 }, { turnAttempt: 2 }]) {
      expect((await tried(client, { pollIntervalMs: 20_000 }, later)).outcome).toMatchObject({
        status: 'completed',
      });
    }
    expect(count('tasks/get')).toBe(2);
  });

  it.each([
    [1, 20_000, 30_000, 20_000],
    [2, 10_000, 30_000, 10_000],
    [2, 5_001, 30_000, 9_000],
    [4, 5_001, 30_000, 20_250],
    [9, 5_001, 30_000, 30_000],
    [9_000, 5_001, 7_000, 7_000],
    [9_000, 8_000, 7_000, 8_000],
  ])(
    '[R-MT-38] grows with each try, up to the longest one, and is never shorter than the server advises: try %i, %i ms, at most %i ms',
    async (attempt, pollIntervalMs, longestPauseMs, expected) => {
      const { client } = await serverOf([task('working', { pollIntervalMs })]);
      const { outcome } = await tried(client, { pollIntervalMs }, { attempt, longestPauseMs });
      expect(outcome).toMatchObject({ name: 'NotYet', retryAfterMs: expected });
    },
  );

  it('ends with the turn, and not when it is over', async () => {
    const working = task('working', { pollIntervalMs: 4_000, statusMessage: 'On it' });
    const { client, count } = await serverOf([working]);
    const [stop, read] = [new AbortController(), Promise.withResolvers<void>()];
    let hasEnded = false;
    const more = { attempt: 2, signal: stop.signal, onStatus: () => read.resolve() };
    const ended = tried(client, { pollIntervalMs: 1 }, more).finally(() => {
      hasEnded = true;
    });
    await read.promise;
    // The pause has begun. None of its time passes.
    stop.abort(new Error('Over'));
    for (let rounds = 0; rounds < 10; rounds += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(hasEnded).toBe(true);
    expect((await ended).outcome).toEqual(new Error('Over'));
    expect(count('tasks/get')).toBe(1);
  });

  it('goes by what the server advises with each read', async () => {
    const { client } = await serverOf([task('working', { pollIntervalMs: 60_000 })]);
    const { outcome } = await tried(client, { pollIntervalMs: 1 });
    expect(outcome).toMatchObject({ name: 'NotYet', retryAfterMs: 60_000 });
  });

  it('remembers since when the server has been out of reach, and forgets it with the first answer', async () => {
    const { client } = await serverOf([trouble]);
    const before = Date.now();
    const out = await tried(client, { pollIntervalMs: 20_000 }, { attempt: 2 });
    expect(out.outcome).toMatchObject({ name: 'NotYet' });
    const [[step, open] = ['', { unreachableSince: 0 }]] = Object.entries(
      out.kept[openTasks] as Record<string, { unreachableSince: number }>,
    );
    expect(step).toBe('s');
    expect(open.unreachableSince).toBeGreaterThanOrEqual(before);
    const long = { ...open, unreachableSince: before - 700_000 };
    const still = await tried(client, {}, { attempt: 2, memory: { [openTasks]: { s: long } } });
    expect(A2AError.is(still.outcome, 'UNAVAILABLE')).toBe(true);
    expect(still.kept).toEqual({});
    const back = await serverOf([task('working', { pollIntervalMs: 20_000 })]);
    const { kept } = await tried(back.client, {}, { attempt: 2, memory: { [openTasks]: { s: long } } });
    const { unreachableSince: _, ...reached } = long;
    expect(kept).toEqual({ [openTasks]: { s: reached } });
  });

  it('writes nothing where nothing changed', async () => {
    const { client } = await serverOf([task('working', { pollIntervalMs: 20_000 })]);
    const memory = { [openTasks]: { s: { taskId: 't-1', server: 'Foreign' } } };
    expect((await tried(client, {}, { attempt: 2, memory })).writes).toEqual([]);
  });
});

it('the handle is remembered while its task is waited for, with what its server advises', async () => {
  const { client } = await serverOf([done], handle({ pollIntervalMs: 20_000 }), 'Slow');
  const { request } = client as unknown as { request(...args: unknown[]): Promise<unknown> };
  const seen: unknown[] = [];
  const { memory } = await runTurn(async function* (turn) {
    const noting = async (asked: { method: string }, ...more: unknown[]) => {
      if (asked.method === 'tasks/get') seen.push(structuredClone(turn.memory.get(openTasks)));
      return request.call(client, asked, ...more);
    };
    yield* callTool(turn, Object.assign(Object.create(client), { request: noting }), 'look');
    yield completed();
  }, 'go');
  expect(seen).toEqual([{ 'mcp look 1': { taskId: 't-1', server: 'Slow', pollIntervalMs: 20_000 } }]);
  expect(memory).toEqual({});
});

describe('cancelToolTasks', () => {
  const open = (taskId: string, server: string) => ({ taskId, server });
  const turnWith = (tasks: object) => ({ memory: { get: () => tasks } }) as unknown as Turn;

  it('asks each server for its own tasks, and takes it for done where the server forgot them', async () => {
    const [one, other] = [
      await foreignServer({ 'tasks/cancel': [unknown] }, 'One'),
      await foreignServer({ 'tasks/cancel': [{ resultType: 'complete' }] }, 'Other'),
    ];
    const turn = turnWith({ a: open('a', 'One'), b: open('b', 'Other'), c: open('c', 'None') });
    await cancelToolTasks(turn, one.client, other.client);
    expect([one.asked, other.asked].map((asked) => asked.map(({ params }) => params.taskId))).toEqual([
      ['a'],
      ['b'],
    ]);
  });

  it('rejects with why a server cannot be asked, after all others were', async () => {
    const [one, other] = [
      await foreignServer({ 'tasks/cancel': [trouble] }, 'One'),
      await foreignServer({ 'tasks/cancel': [{ resultType: 'complete' }] }, 'Other'),
    ];
    const turn = turnWith({ a: open('a', 'One'), b: open('b', 'Other') });
    await expect(cancelToolTasks(turn, one.client, other.client)).rejects.toMatchObject({ code: -32_603 });
    expect(other.count('tasks/cancel')).toBe(1);
  });

  it('has nothing to do for a task that waits for no tool', async () => {
    const { client, asked } = await foreignServer({});
    await cancelToolTasks({ memory: { get: () => undefined } } as unknown as Turn, client);
    expect(asked).toEqual([]);
  });
});
