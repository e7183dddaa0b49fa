import { artifact, completed, inputRequired, reply, working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { say } from '../kit/rpc.ts';
import { onEveryAdapter, type Peer } from './peer.ts';

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };

const post = ({ fetch }: Peer, body: object, more: Record<string, string> = {}) =>
  fetch('/', { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
const request = (method: string, params?: object, id: unknown = 'r') => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

onEveryAdapter('JSON-RPC', (serve) => {
  const worker = () =>
    serve(async function* ({ text }) {
      yield working();
      yield artifact('a', 'x');
      yield text === 'ask' ? inputRequired('Well?') : completed();
    });

  it('is a POST to the URL of the interface, JSON both ways [R-RPC-01] [R-BIND-01]', async () => {
    const peer = await worker();
    const response = await post(peer, request('SendMessage', { message: say('go') }));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(Object.keys(await response.json()).sort()).toEqual(['id', 'jsonrpc', 'result']);
  });

  it.each([
    'SendMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'SendStreamingMessage',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ])('knows %s [R-RPC-01] [R-OP-01]', async (method) => {
    const response = await post(await worker(), request(method, {}));
    const { error } = await response.json();
    expect(error?.code).not.toBe(-32601);
  });

  it('takes the request object as params; they may be absent [R-RPC-02]', async () => {
    const peer = await worker();
    const { error } = await (await post(peer, request('GetExtendedAgentCard'))).json();
    expect(error.data[0].reason).toBe('UNSUPPORTED_OPERATION');
    const { result } = await (await post(peer, request('ListTasks'))).json();
    expect(result.tasks).toEqual([]);
    const { task } = (
      await (await post(peer, request('SendMessage', { tenant: 't', message: say('go') }))).json()
    ).result;
    const found = await (await post(peer, request('GetTask', { tenant: 't', id: task.id }))).json();
    expect(found.result.id).toBe(task.id);
    const lost = await (await post(peer, request('GetTask', { id: task.id }))).json();
    expect(lost.error.code).toBe(-32001);
  });

  it.each([1, 0, -7, 'a', '', '7'])(
    'answers with the id %j and one of result and error [R-RPC-03]',
    async (id) => {
      const peer = await worker();
      const fine = await (await post(peer, request('ListTasks', {}, id))).json();
      expect(fine).toEqual({ jsonrpc: '2.0', id, result: expect.any(Object) });
      const wrong = await (await post(peer, request('GetTask', { id: 'nobody' }, id))).json();
      expect(wrong).toEqual({ jsonrpc: '2.0', id, error: expect.any(Object) });
    },
  );

  it('refuses notifications and batches, with the id null [R-RPC-03] [R-RPC-04]', async () => {
    const peer = await worker();
    const notification = { jsonrpc: '2.0', method: 'ListTasks', params: {} };
    for (const body of [notification, [request('ListTasks')], []]) {
      const answer = await (await post(peer, body)).json();
      expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32600 } });
    }
  });

  it('takes and echoes every id that JSON-RPC 2.0 allows [R-RPC-03]', async () => {
    const peer = await worker();
    for (const id of [null, 1.5, 0, -7, '', 'r']) {
      expect(await (await post(peer, request('ListTasks', {}, id))).json()).toMatchObject({ id, result: {} });
      expect(await (await post(peer, request('X', {}, id))).json()).toMatchObject({
        id,
        error: { code: -32601 },
      });
    }
  });

  it('wraps what a send returns [R-RPC-05] [R-DM-11]', async () => {
    const worked = await (await post(await worker(), request('SendMessage', { message: say('go') }))).json();
    expect(Object.keys(worked.result)).toEqual(['task']);
    expect(worked.result.task).not.toHaveProperty('kind');
    const talker = await serve(() => reply('Hi'));
    const talked = await (await post(talker, request('SendMessage', { message: say('go') }))).json();
    expect(Object.keys(talked.result)).toEqual(['message']);
  });

  it('streams whole responses as server-sent events [R-RPC-06] [R-SSE-01] [R-SSE-02] [R-SSE-04]', async () => {
    const peer = await worker();
    const response = await post(peer, request('SendStreamingMessage', { message: say('go') }, 42));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const blocks = (await response.text()).split('\n\n');
    expect(blocks.pop()).toBe('');
    expect(blocks).toHaveLength(4);
    for (const block of blocks) {
      const [first, second, ...others] = block.split('\n');
      expect(first).toMatch(/^id: \S+$/);
      expect(others).toEqual([]);
      const event = JSON.parse(second?.replace(/^data: /, '') ?? '');
      expect(event).toEqual({ jsonrpc: '2.0', id: 42, result: expect.any(Object) });
      expect(Object.keys(event.result)).toHaveLength(1);
    }
  });

  it('says its own errors with 200, those of HTTP with their status [R-RPC-07] [R-ERR-08]', async () => {
    const peer = await serve(() => reply('Hi'), {
      authenticate: ({ headers }) => (headers.authorization ? { scope: 'a' } : undefined),
    });
    const known = { authorization: 'x' };
    const unknown = await post(peer, request('ListTasks'));
    expect(unknown.status).toBe(401);
    expect(await unknown.json()).toMatchObject({ jsonrpc: '2.0', id: 'r', error: { code: -32600 } });
    for (const body of [request('Nothing'), request('GetTask', {}), request('GetTask', { id: 'x' }), {}])
      expect((await post(peer, body, known)).status).toBe(200);
  });

  it('answers an error before a stream with plain JSON [R-RPC-08]', async () => {
    const peer = await worker();
    for (const body of [
      request('SubscribeToTask', { id: 'nobody' }),
      request('SendStreamingMessage', { message: {} }),
      request('SendStreamingMessage', { message: say('x', { taskId: 'nobody' }) }),
    ]) {
      const response = await post(peer, body);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toMatchObject({ id: 'r', error: { code: expect.any(Number) } });
    }
  });

  it('carries service parameters as headers [R-RPC-10]', async () => {
    const peer = await worker();
    const { error } = await (await post(peer, request('ListTasks'), { 'a2a-version': '0.3' })).json();
    expect(error.code).toBe(-32009);
  });

  it('names the reason in a list of typed details [R-RPC-11] [R-ERR-01] [R-ERR-02] [R-ERR-04] [R-ERR-05]', async () => {
    const peer = await worker();
    const ask = async (body: object) => (await (await post(peer, body)).json()).error;
    expect(await ask(request('GetTask', { id: 't-1' }))).toEqual({
      code: -32001,
      message: 'Task not found',
      data: [
        {
          '@type': ERROR_INFO,
          reason: 'TASK_NOT_FOUND',
          domain: 'a2a-protocol.org',
          metadata: { taskId: 't-1' },
        },
      ],
    });
    const { data } = await ask(request('GetTask', {}));
    expect(data[1]).toEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'id', description: 'is required' }],
    });
  });

  it('uses the standard codes with the standard messages [R-ERR-07]', async () => {
    const peer = await worker();
    const raw = async (body: string) =>
      (await (await peer.fetch('/', { method: 'POST', headers, body })).json()).error;
    const text = (body: object) => JSON.stringify(body);
    expect(await raw('{')).toMatchObject({ code: -32700, message: 'Invalid JSON payload' });
    expect(await raw('{}')).toMatchObject({
      code: -32600,
      message: expect.stringMatching(/^Request payload validation error: jsonrpc must be "2.0"/),
    });
    expect(await raw(text(request('X')))).toMatchObject({ code: -32601, message: 'Method not found' });
    expect(await raw(text(request('GetTask')))).toMatchObject({
      code: -32602,
      message: 'Invalid parameters: id is required',
    });
  });
});
