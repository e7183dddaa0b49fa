import {
  type Agent,
  append,
  artifact,
  completed,
  data,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  taskAgent,
  text,
  working,
} from '@batonjs/server';
import { describe, expect, it, vi } from 'vitest';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import type { Loss } from '../../src/index.ts';
import { ask, listen, post, say, serve } from '../serve.ts';
import { webhook } from '../webhook.ts';

/** Does what the text says: `talk`, `ask`, `hold` until it is let go; works otherwise. */
function versatile() {
  const gate = Promise.withResolvers<void>();
  const work = async function* ({ text: said, messages, signal }: Turn): AsyncGenerator<TaskUpdate> {
    if (said === 'ask' && messages.length === 1) return yield inputRequired('Which currency?');
    yield working('On it');
    yield artifact('quote', '10 USD');
    if (said === 'hold') await Promise.race([gate.promise, untilAborted(signal)]);
    if (signal.aborted) return;
    yield append(
      { artifactId: 'quote', lastChunk: true },
      ' is 833 INR',
      data([83.3]),
      text('*!*', { mediaType: 'text/markdown' }),
    );
    yield completed('Done');
  };
  const agent: Agent = (turn) => (turn.text === 'talk' ? reply('Nice to meet you') : work(turn));
  return { agent, worker: taskAgent(work), letGo: gate.resolve };
}
const start = (...more: [Partial<Parameters<typeof serve>[0]>?, Parameters<typeof serve>[1]?]) => {
  const { agent, letGo } = versatile();
  return { server: serve({ agent, ...more[0] }, more[1]), letGo };
};
/** Like `start`, of an agent whose tasks are there before it says anything. */
const startWorker = (options: Partial<Parameters<typeof serve>[0]> = {}) => {
  const { worker, letGo } = versatile();
  return { server: serve({ agent: worker, ...options }), letGo };
};
const quick = { allow: ['127.0.0.1:*'] };

it('a method of 1.0 without a version gets an error that names the missing header [R-V03-11]', async () => {
  const { error } = await ask(start().server, 'SendMessage', { message: {} });
  expect(error).toMatchObject({
    code: -32601,
    message: 'Method not found: SendMessage is a method of A2A 1.0; send A2A-Version: 1.0',
  });
});

describe('an id', () => {
  const sent = async (envelope: object) => (await post(start().server, JSON.stringify(envelope))).json();

  it.each([
    ['null', { id: null }, null],
    ['a fraction', { id: 1.5 }, 1.5],
    ['left out', {}, null],
    ['text', { id: 'a' }, 'a'],
  ])('may be %s, and comes back as JSON-RPC 2.0 §5 has it [R-RPC-03]', async (_, id, back) => {
    const call = { jsonrpc: '2.0', ...id };
    const task = await sent({ ...call, method: 'message/send', params: { message: say('go') } });
    expect(task).toMatchObject({ id: back, result: { kind: 'task' } });
    expect(await sent({ ...call, method: 'no/method', params: {} })).toMatchObject({
      id: back,
      error: { code: -32601 },
    });
    expect(await sent({ ...call, method: 'tasks/get', params: 'no object' })).toMatchObject({
      id: back,
      error: { code: -32602 },
    });
  });

  it('may not be an object', async () => {
    const task = await sent({
      jsonrpc: '2.0',
      id: {},
      method: 'message/send',
      params: { message: say('go') },
    });
    expect(task).toMatchObject({ id: null, error: { code: -32600 } });
  });
});

describe('message/send', () => {
  it('is answered with a bare task [R-V03-10]', async () => {
    const { server } = start();
    const { id, result } = await ask(server, 'message/send', { message: say('10 USD in INR') });
    expect(id).toEqual(expect.any(Number));
    expect(result).toMatchObject({
      kind: 'task',
      id: expect.any(String),
      contextId: expect.any(String),
      status: { state: 'completed', message: { kind: 'message', role: 'agent' } },
      artifacts: [
        {
          artifactId: 'quote',
          parts: [
            { kind: 'text', text: '10 USD' },
            { kind: 'text', text: ' is 833 INR' },
            { kind: 'data', data: { value: [83.3] }, metadata: { data_part_compat: true } },
            { kind: 'text', text: '*!*', metadata: expect.objectContaining({}) },
          ],
        },
      ],
      history: [
        { kind: 'message', role: 'user' },
        { kind: 'message', role: 'agent' },
      ],
    });
  });

  it('is answered with a bare message', async () => {
    const { result } = await ask(start().server, 'message/send', { message: say('talk') });
    expect(result).toMatchObject({
      kind: 'message',
      role: 'agent',
      parts: [{ kind: 'text', text: 'Nice to meet you' }],
    });
  });

  it('waits unless `blocking` is false, and keeps to `historyLength`', async () => {
    const { server, letGo } = start();
    const at = (blocking: boolean | undefined) =>
      ask(server, 'message/send', { message: say('hold'), configuration: { blocking, historyLength: 0 } });
    const now = await at(false);
    expect(now.result.status.state).toMatch(/^(submitted|working)$/);
    expect(now.result).not.toHaveProperty('history');
    const waiting = [at(true), at(undefined)];
    letGo();
    for (const later of await Promise.all(waiting)) expect(later.result.status.state).toBe('completed');
  });

  it('goes on with a task that asked', async () => {
    const { server } = start();
    const { result: asked } = await ask(server, 'message/send', { message: say('ask') });
    expect(asked.status).toMatchObject({ state: 'input-required' });
    const answer = say('INR', { taskId: asked.id, contextId: asked.contextId });
    const { result } = await ask(server, 'message/send', { message: answer });
    expect([result.id, result.status.state]).toEqual([asked.id, 'completed']);
  });

  it('has parts that say what they are, unless lenient', async () => {
    const message = { ...say('x'), parts: [{ text: 'a' }, { kind: 'text', text: 'b' }, { kind: 'image' }] };
    const { error } = await ask(start().server, 'message/send', { message });
    expect(error).toMatchObject({
      code: -32602,
      data: {
        reason: 'INVALID_PARAMS',
        details: [
          { fieldViolations: [{ field: 'message.parts[0].kind' }, { field: 'message.parts[2].kind' }] },
        ],
      },
    });
    const { server } = start({}, { lenient: true });
    const lenient = await ask(server, 'message/send', { message: { ...message, parts: [{ text: 'a' }] } });
    expect(lenient.result.kind).toBe('task');
  });

  it.each([
    ['no message', {}],
    ['a message that is none', { message: 7 }],
    ['parts that are none', { message: { ...say('x'), parts: 'x' } }],
    ['a part that is none', { message: { ...say('x'), parts: [null] } }],
    ['an unknown role', { message: { ...say('x'), role: 'ROLE_USER' } }],
    ['a configuration that is none', { message: say('x'), configuration: [] }],
    ['a file without content', { message: { ...say('x'), parts: [{ kind: 'file', file: {} }] } }],
    ['a file that is none', { message: { ...say('x'), parts: [{ kind: 'file' }] } }],
    ['`blocking` that is no flag', { message: say('x'), configuration: { blocking: 'yes' } }],
  ])('with %s is refused by name', async (_, params) => {
    const { error } = await ask(start().server, 'message/send', params);
    expect(error).toMatchObject({
      code: -32602,
      data: { details: [{ fieldViolations: [expect.anything()] }] },
    });
  });
});

describe('message/stream', () => {
  it('sends bare events, the last of which is final', async () => {
    const events = await listen(startWorker().server, 'message/stream', { message: say('10 USD') });
    expect(events.map(({ id }) => id)).toEqual(events.map(() => 'stream'));
    const [first, ...updates] = events.map(({ result }) => result);
    expect(first).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
    expect(updates.map(({ kind, status, final, append }) => [kind, status?.state ?? append, final])).toEqual([
      ['status-update', 'working', false],
      ['artifact-update', undefined, undefined],
      ['artifact-update', true, undefined],
      ['status-update', 'completed', true],
    ]);
  });

  it('is final at a question only if the stream ends there', async () => {
    const last = async (closeStreamsOnInputRequired: boolean) => {
      const { server } = startWorker({ streams: { closeOnInputRequired: closeStreamsOnInputRequired } });
      const events = listen(server, 'message/stream', { message: say('ask') });
      if (!closeStreamsOnInputRequired) {
        const asked = await vi.waitFor(async () => {
          const list = await post(
            server,
            JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }),
            { 'a2a-version': '1.0' },
          );
          const [task] = (await list.json()).result.tasks;
          expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
          return task;
        });
        await ask(server, 'tasks/cancel', { id: asked.id });
      }
      return (await events)
        .map(({ result }) => result)
        .find(({ status }) => status?.state === 'input-required');
    };
    expect(await last(true)).toMatchObject({ kind: 'status-update', final: true });
    expect(await last(false)).toMatchObject({ kind: 'status-update', final: false });
  });

  it('says its errors as the only event', async () => {
    const [only, ...more] = await listen(start().server, 'message/stream', {
      message: say('x', { taskId: 'missing' }),
    });
    expect(more).toEqual([]);
    expect(only).toMatchObject({ id: 'stream', error: { code: -32001 } });
  });
});

describe('tasks/get, tasks/cancel and tasks/resubscribe', () => {
  it('know tasks, and say which they do not know', async () => {
    const { server } = start();
    const { result: task } = await ask(server, 'message/send', { message: say('10 USD') });
    expect((await ask(server, 'tasks/get', { id: task.id })).result).toEqual(task);
    const { result } = await ask(server, 'tasks/get', { id: task.id, historyLength: 1, metadata: {} });
    expect(result.history).toEqual([task.history.at(-1)]);
    expect((await ask(server, 'tasks/get', { id: 'missing' })).error).toMatchObject({
      code: -32001,
      data: { metadata: { taskId: 'missing' } },
    });
    expect((await ask(server, 'tasks/cancel', { id: task.id })).error.code).toBe(-32002);
  });

  it('say what they have no place for', async () => {
    const losses: Loss[] = [];
    const { server } = start({}, { onLoss: (loss) => losses.push(loss) });
    await ask(server, 'tasks/get', { id: 'missing', metadata: { why: 'curious' } });
    await ask(server, 'tasks/cancel', { id: 'missing', metadata: { why: 'enough' } });
    expect(losses).toEqual([{ code: 'request-metadata', path: 'metadata' }]);
  });

  it('cancel a task that runs', async () => {
    const { server } = start();
    const configuration = { blocking: false };
    const { result: task } = await ask(server, 'message/send', { message: say('hold'), configuration });
    const { result } = await ask(server, 'tasks/cancel', { id: task.id, metadata: { why: 'enough' } });
    expect(result).toMatchObject({ kind: 'task', id: task.id, status: { state: 'canceled' } });
  });

  it('follow a task that runs, from how it is to how it ends', async () => {
    const { server, letGo } = start();
    const configuration = { blocking: false };
    const { result: task } = await ask(server, 'message/send', { message: say('hold'), configuration });
    const events = await listen(server, 'tasks/resubscribe', { id: task.id }, letGo);
    const results = events.map(({ result }) => result);
    expect(results[0]).toMatchObject({ kind: 'task', id: task.id });
    expect(results.at(-1)).toMatchObject({
      kind: 'status-update',
      final: true,
      status: { state: 'completed' },
    });
  });

  it('of a task that has ended send its state, and close', async () => {
    const { server } = start();
    const { result: task } = await ask(server, 'message/send', { message: say('10 USD') });
    const events = await listen(server, 'tasks/resubscribe', { id: task.id });
    expect(events.map(({ result }) => result)).toEqual([task]);
  });

  it('say errors as the only event, in answer to a method that streams', async () => {
    const { server } = start();
    const events = await listen(server, 'tasks/resubscribe', { id: 'missing' });
    expect(events).toMatchObject([{ jsonrpc: '2.0', id: 'stream', error: { code: -32001 } }]);
    const refused = start({ authenticate: () => undefined }).server;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/resubscribe', params: { id: 'x' } });
    const reply = await post(refused, body);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([401, 'application/json']);
  });
});

describe('versions', () => {
  it('share one address: none and 0.3 are 0.3, 1.0 is 1.0, others are refused [R-VER-02] [R-VER-04] [R-V03-11]', async () => {
    const { server } = start();
    const older = { message: say('talk') };
    const newer = { message: { messageId: 'n', role: 'ROLE_USER', parts: [{ text: 'talk' }] } };
    const named: Record<string, string>[] = [{}, { 'a2a-version': '0.3' }, { 'a2a-version': '0.3.0' }];
    for (const headers of named)
      expect((await ask(server, 'message/send', older, headers)).result).toMatchObject({ kind: 'message' });
    expect((await ask(server, 'SendMessage', newer, { 'a2a-version': '1.0' })).result).toHaveProperty(
      'message',
    );
    const unknown = await ask(server, 'message/send', older, { 'a2a-version': '0.2' });
    expect(unknown.error).toMatchObject({
      code: -32009,
      data: [{ metadata: { supportedVersions: '1.0,0.3' } }],
    });
    expect((await ask(server, 'message/send', older, { 'a2a-version': '1.0' })).error.code).toBe(-32601);
    expect((await ask(server, 'SendMessage', newer, { 'a2a-version': '0.3' })).error.code).toBe(-32601);
  });

  it('are taken from the method, if that is wanted, when a request names none [R-V03-11]', async () => {
    const newer = { message: { messageId: 'n', role: 'ROLE_USER', parts: [{ text: 'talk' }] } };
    const strict = await ask(start().server, 'SendMessage', newer);
    expect(strict.error).toEqual({ code: -32601, message: expect.any(String) });
    for (const options of [{ inferVersion: true }, { lenient: true }]) {
      const { server } = start({}, options);
      expect((await ask(server, 'SendMessage', newer)).result).toHaveProperty('message');
      expect((await ask(server, 'message/send', { message: say('talk') })).result).toHaveProperty('kind');
    }
    const { server } = start({}, { lenient: true, inferVersion: false });
    expect((await ask(server, 'SendMessage', newer)).error.code).toBe(-32601);
  });

  it('that the card does not list are not served [R-V03-12]', async () => {
    const only = { url: 'https://agents.example/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
    const card = { name: 'New', description: 'Only', supportedInterfaces: [only] };
    const { error } = await ask(start({ card }).server, 'message/send', { message: say('talk') });
    expect(error.code).toBe(-32009);
  });

  it.each([
    ['text that is no JSON', '{', -32700],
    ['a list', '[]', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tasks/send"}', -32601],
    ['a method that objects have', '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601],
    ['params that are none', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":[]}', -32602],
  ])('without a header, %s gets an error of 0.3 [R-V03-11]', async (_, body, code) => {
    const response = await post(start().server, body);
    expect(response.status).toBe(200);
    const { error } = await response.json();
    expect(error.code).toBe(code);
    expect(Array.isArray(error.data)).toBe(false);
  });

  it('each name extensions in a header of their own [R-HDR-03]', async () => {
    const uri = 'https://extensions.example/mood';
    const capabilities = { extensions: [{ uri }] };
    const { server } = start({ card: { name: 'Moody', description: 'x', capabilities } });
    const older = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message: say('talk') },
    });
    const one = await post(server, older, { 'x-a2a-extensions': uri });
    expect([one.headers.get('x-a2a-extensions'), one.headers.get('a2a-extensions')]).toEqual([uri, null]);
    const other = await post(server, '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}', {
      'a2a-extensions': uri,
      'a2a-version': '1.0',
    });
    expect([other.headers.get('x-a2a-extensions'), other.headers.get('a2a-extensions')]).toEqual([null, uri]);
  });
});

describe('webhooks', () => {
  it('are registered, found, listed and removed', async () => {
    const losses: Loss[] = [];
    const { server } = start({ push: quick }, { onLoss: (loss) => losses.push(loss) });
    const { result: task } = await ask(server, 'message/send', { message: say('10 USD') });
    const authentication = { schemes: ['Bearer', 'Basic'], credentials: 'secret' };
    const { result: first } = await ask(server, 'tasks/pushNotificationConfig/set', {
      taskId: task.id,
      pushNotificationConfig: { id: 'a', url: 'http://127.0.0.1:1/', token: 't', authentication },
    });
    expect(first).toEqual({
      taskId: task.id,
      pushNotificationConfig: {
        id: 'a',
        url: 'http://127.0.0.1:1/',
        token: 't',
        authentication: { schemes: ['Bearer'], credentials: 'secret' },
      },
    });
    expect(losses).toEqual([
      { code: 'authentication-schemes', path: 'pushNotificationConfig.authentication' },
    ]);
    await ask(server, 'tasks/pushNotificationConfig/set', {
      taskId: task.id,
      pushNotificationConfig: { id: task.id, url: 'http://127.0.0.1:2/' },
    });
    const get = (pushNotificationConfigId?: string) =>
      ask(server, 'tasks/pushNotificationConfig/get', { id: task.id, pushNotificationConfigId });
    expect((await get('a')).result.pushNotificationConfig.url).toBe('http://127.0.0.1:1/');
    expect((await get()).result.pushNotificationConfig.id).toBe(task.id);
    const list = async () => (await ask(server, 'tasks/pushNotificationConfig/list', { id: task.id })).result;
    expect((await list()).map((config: typeof first) => config.pushNotificationConfig.id).sort()).toEqual(
      ['a', task.id].sort(),
    );
    const remove = (pushNotificationConfigId: string) =>
      ask(server, 'tasks/pushNotificationConfig/delete', { id: task.id, pushNotificationConfigId });
    expect(await remove(task.id)).toMatchObject({ result: null });
    expect((await get()).result.pushNotificationConfig.id).toBe('a');
    await remove('a');
    expect(await list()).toEqual([]);
    expect((await get()).error.code).toBe(-32001);
  });

  it('get what the version says in which they were registered [R-V03-15]', async () => {
    const [older, newer] = [await webhook(), await webhook()];
    const { server, letGo } = start({ push: quick });
    const configuration = { blocking: false, pushNotificationConfig: { url: older.url, token: 'mine' } };
    const { result: task } = await ask(server, 'message/send', { message: say('hold'), configuration });
    await ask(
      server,
      'CreateTaskPushNotificationConfig',
      { taskId: task.id, url: newer.url },
      { 'a2a-version': '1.0' },
    );
    letGo();
    await vi.waitFor(() => {
      expect(older.received.at(-1)?.body.status?.state).toBe('completed');
      expect(newer.received.at(-1)?.body.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
    });
    expect(older.received.at(-1)).toMatchObject({
      headers: { 'content-type': 'application/json', 'x-a2a-notification-token': 'mine' },
      body: { kind: 'status-update', taskId: task.id, final: true },
    });
    expect(newer.received.at(-1)?.headers['content-type']).toBe('application/a2a+json');
  });

  it('are listed up to a hundred, and that there are more is said', async () => {
    const losses: Loss[] = [];
    const { server } = start(
      { push: { ...quick, configsPerTask: 101 } },
      { onLoss: (loss) => losses.push(loss) },
    );
    const { result: task } = await ask(server, 'message/send', { message: say('10 USD') });
    for (let n = 0; n <= 100; n += 1) {
      const pushNotificationConfig = { url: `http://127.0.0.1:1/${n}` };
      await ask(server, 'tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig });
    }
    const { result } = await ask(server, 'tasks/pushNotificationConfig/list', { id: task.id });
    expect(result).toHaveLength(100);
    expect(losses).toEqual([{ code: 'paging', path: '' }]);
  });

  it('are refused without push', async () => {
    const { server } = start({ push: false });
    const params = { taskId: 'x', pushNotificationConfig: { url: 'http://127.0.0.1:1/' } };
    expect((await ask(server, 'tasks/pushNotificationConfig/set', params)).error.code).toBe(-32003);
  });
});
