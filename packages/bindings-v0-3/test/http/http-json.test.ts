import { type Agent, completed, data, inputRequired, reply, text, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import type { Loss, V03Options } from '../../src/index.ts';
import { post, say, serve } from '../serve.ts';

const worker: Agent = async function* ({ text: said }) {
  if (said === 'ask') return yield inputRequired('Which currency?');
  yield working();
  yield { artifact: { artifactId: 'a', parts: [text('833 INR'), data({ rate: 83.3 })] } };
  yield completed();
};
const agent: Agent = (turn) => (turn.text === 'talk' ? reply('Hello') : worker(turn));
const start = (options: V03Options = {}) =>
  serve({ agent: worker, push: { allow: ['127.0.0.1:*'] } }, options);

/** A message of the protocol buffers. */
const protoMessage = (said: string, more: object = {}) => ({
  messageId: `p-${said}`,
  role: 'ROLE_USER',
  content: [{ text: said }],
  ...more,
});
const send = async (server: ReturnType<typeof serve>, body: object, path = '/v1/message:send') => {
  const response = await post(server, JSON.stringify(body), {}, path);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.json() };
};
const get = async (server: ReturnType<typeof serve>, path: string, method = 'GET') => {
  const response = await server.fetch(new Request(`http://localhost${path}`, { method }));
  const body = await response.text();
  return { status: response.status, body: body === '' ? undefined : JSON.parse(body) };
};

describe('HTTP+JSON of 0.3', () => {
  it('answers protocol buffers with protocol buffers, and 200 [R-V03-16]', async () => {
    const { status, type, body } = await send(start(), { message: protoMessage('go') });
    expect([status, type]).toEqual([200, 'application/json']);
    expect(body).toMatchObject({
      task: {
        status: { state: 'TASK_STATE_COMPLETED' },
        artifacts: [{ parts: [{ text: '833 INR' }, { data: { data: { rate: 83.3 } } }] }],
        history: [{ role: 'ROLE_USER', content: [{ text: 'go' }] }],
      },
    });
    expect(JSON.stringify(body)).not.toContain('"kind"');
  });

  it('answers the JSON of the specification with the same', async () => {
    const { status, body } = await send(start(), { message: say('go') });
    expect([status, body]).toMatchObject([200, { kind: 'task', status: { state: 'completed' } }]);
    const talk = serve({ agent });
    expect((await send(talk, { message: say('talk') })).body).toMatchObject({
      kind: 'message',
      role: 'agent',
    });
    expect((await send(talk, { message: protoMessage('talk') })).body).toMatchObject({
      message: { role: 'ROLE_AGENT', content: [{ text: 'Hello' }] },
    });
  });

  it('does not wait where protocol buffers leave `blocking` out of a configuration', async () => {
    const slow: Agent = async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
    };
    const server = serve({ agent: slow, timeouts: { blockingMs: 20 } });
    const { body } = await send(server, { message: protoMessage('go'), configuration: {} });
    expect(body.task.status.state).toMatch(/SUBMITTED|WORKING/);
    await get(server, `/v1/tasks/${body.task.id}:cancel`, 'POST');
    const canceled = await get(server, `/v1/tasks/${body.task.id}`);
    expect(canceled.body.status.state).toBe('TASK_STATE_CANCELLED');
  });

  it.each(['proto', 'kind'] as const)('gets tasks in the style %s', async (httpJson) => {
    const server = start({ httpJson });
    const { body: task } = await send(server, { message: say('go') });
    const all = await get(server, `/v1/tasks/${task.id}`);
    const states = { proto: 'TASK_STATE_COMPLETED', kind: 'completed' };
    expect([all.status, all.body.status.state]).toEqual([200, states[httpJson]]);
    for (const name of ['historyLength', 'history_length'])
      expect((await get(server, `/v1/tasks/${task.id}?${name}=0`)).body).not.toHaveProperty('history');
    const list = await get(server, '/v1/tasks');
    expect(list.body).toMatchObject([{ id: task.id, status: { state: states[httpJson] } }]);
    const card = await get(server, '/v1/card');
    expect(card).toMatchObject({
      status: 400,
      body: { code: expect.any(Number), message: expect.any(String) },
    });
  });

  it.each(['proto', 'kind'] as const)(
    'answers /v1/card as the text has it, in the style %s too',
    async (httpJson) => {
      const server = serve(
        {
          agent,
          card: {
            name: 'Both',
            description: 'Speaks two versions',
            securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
            securityRequirements: [{ schemes: { key: { list: ['read'] } } }],
            extended: () => ({}),
          },
          authenticate: () => ({ scope: 'a' }),
        },
        { httpJson },
      );
      expect(await get(server, '/v1/card')).toMatchObject({
        status: 200,
        body: {
          protocolVersion: '0.3.0',
          security: [{ key: ['read'] }],
          securitySchemes: { key: { type: 'http', scheme: 'Bearer' } },
        },
      });
    },
  );

  it.each([
    [protoMessage('go'), (event: Record<string, unknown>) => Object.keys(event)[0]],
    [say('go'), (event: Record<string, unknown>) => event.kind],
  ])('streams what %o is answered with', async (message, kindOf) => {
    const response = await post(start(), JSON.stringify({ message }), {}, '/v1/message:stream');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = Array.from((await response.text()).matchAll(/^data: (.*)$/gm), ([, text]) =>
      JSON.parse(text!),
    );
    const proto = ['task', 'statusUpdate', 'artifactUpdate', 'statusUpdate'];
    const kinds = ['task', 'status-update', 'artifact-update', 'status-update'];
    expect(events.map(kindOf)).toEqual('content' in message ? proto : kinds);
    const last = events.at(-1);
    expect((last.statusUpdate ?? last).final).toBe(true);
  });

  it.each(['GET', 'POST'])('answers %s with the state of a task that has ended', async (method) => {
    const server = start();
    const { body } = await send(server, { message: protoMessage('go') });
    const response = await server.fetch(
      new Request(`http://localhost/v1/tasks/${body.task.id}:subscribe`, { method }),
    );
    const [event, ...more] = Array.from((await response.text()).matchAll(/^data: (.*)$/gm), ([, text]) =>
      JSON.parse(text!),
    );
    expect([event, more]).toEqual([{ task: body.task }, []]);
  });

  it.each([
    [
      'protocol buffers',
      (id: string) => ({
        name: `tasks/${id}/pushNotificationConfigs/mine`,
        pushNotificationConfig: { url: 'http://127.0.0.1:1/' },
      }),
    ],
    ['the text of the specification', () => ({ config: { id: 'mine', url: 'http://127.0.0.1:1/' } })],
    [
      'JSON-RPC',
      (taskId: string) => ({ taskId, pushNotificationConfig: { id: 'mine', url: 'http://127.0.0.1:1/' } }),
    ],
  ])('registers webhooks as %s have them', async (_, config) => {
    const server = start();
    const { body } = await send(server, { message: protoMessage('go') });
    const path = `/v1/tasks/${body.task.id}/pushNotificationConfigs`;
    const stored = {
      name: `tasks/${body.task.id}/pushNotificationConfigs/mine`,
      pushNotificationConfig: { id: 'mine', url: 'http://127.0.0.1:1/' },
    };
    expect(await send(server, config(body.task.id), path)).toMatchObject({ status: 200, body: stored });
    expect((await get(server, `${path}/mine`)).body).toEqual(stored);
    expect((await get(server, path)).body).toEqual({ configs: [stored] });
    expect((await get(server, `${path}/mine`, 'DELETE')).status).toBe(200);
    expect((await get(server, path)).body).toEqual({ configs: [] });
  });

  it('has errors with a code of JSON-RPC and a status of HTTP', async () => {
    const server = start();
    expect(await get(server, '/v1/tasks/missing')).toMatchObject({
      status: 404,
      body: {
        code: -32001,
        message: 'Task not found',
        data: { reason: 'TASK_NOT_FOUND', metadata: { taskId: 'missing' } },
      },
    });
    expect(await send(server, { message: { parts: 7 } })).toMatchObject({
      status: 400,
      body: { code: -32602 },
    });
    const response = await post(server, '{', {}, '/v1/message:send');
    expect(await response.json()).toMatchObject({ code: -32700 });
  });

  it.each(['/v1', '/v1/', '/v1/extendedAgentCard', '/v1/acme/tasks', '/tasks', '/v2/tasks'])(
    'has nothing at %s',
    async (path) => {
      expect(await get(start(), path)).toMatchObject({ status: 404, body: { code: -32601 } });
    },
  );

  it('leaves the paths of 1.0 to requests that say so, or look like it if that is wanted [R-V03-11]', async () => {
    const lenient = start({ lenient: true });
    expect((await get(lenient, '/tasks')).body).toMatchObject({ tasks: [] });
    expect((await get(lenient, '/v1/tasks')).body).toEqual([]);
  });

  it('says what it has no place for', async () => {
    const losses: Loss[] = [];
    const server = start({ onLoss: (loss) => losses.push(loss) });
    const { body } = await send(server, { message: { ...say('go'), referenceTaskIds: ['x'] } });
    const task = await get(server, `/v1/tasks/${body.id}`);
    expect(task.body.history[0]).not.toHaveProperty('referenceTaskIds');
    expect(losses).toEqual([{ code: 'references', path: 'history[0].referenceTaskIds' }]);
  });
});
