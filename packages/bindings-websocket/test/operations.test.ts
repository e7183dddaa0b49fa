import type { Task } from '@batonjs/protocol';
import { operationNames } from '@batonjs/protocol/operations';
import { completed, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { echo, gate, serve } from './agent.ts';
import { message, rawSocket } from './raw-socket.ts';

const everything = {
  card: {
    extended: { description: 'Converts more' },
    name: 'Converter',
    description: 'Converts money',
    capabilities: { extendedAgentCard: true, pushNotifications: true, streaming: true },
  },
  push: {},
  authenticate: () => ({ scope: 'ada' }),
};

describe('the operations', () => {
  it('answer as over HTTP: all eleven on one connection [R-CB-01] [R-SEED-10] [R-WS-12] [R-WS-13]', async () => {
    const { url } = await serve(everything);
    const socket = await rawSocket(url);
    const asked = new Set<string>();
    const call = async (method: string, params: object) => {
      asked.add(method);
      const { jsonrpc, result, error } = await socket.next(socket.request(method, params));
      expect([jsonrpc, error]).toEqual(['2.0', undefined]);
      return result;
    };
    const { task } = await call('SendMessage', message('100 USD'));
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts[0].parts).toEqual([{ text: '100 USD = 92 EUR' }]);

    asked.add('SendStreamingMessage');
    const frames = await socket.all(socket.request('SendStreamingMessage', message('ask')));
    expect(frames.map(({ result }) => result && Object.keys(result)[0])).toEqual([
      'task',
      'statusUpdate',
      'statusUpdate',
      undefined,
    ]);
    const { id } = frames[0].result.task as Task;

    expect(await call('GetTask', { id })).toMatchObject({ id });
    expect((await call('ListTasks', {})).totalSize).toBe(2);
    const config = { taskId: id, id: 'c', url: 'https://example.com/hook' };
    expect(await call('CreateTaskPushNotificationConfig', config)).toMatchObject(config);
    expect(await call('GetTaskPushNotificationConfig', { taskId: id, id: 'c' })).toMatchObject(config);
    expect(await call('ListTaskPushNotificationConfigs', { taskId: id })).toMatchObject({
      configs: [config],
    });
    expect(await call('DeleteTaskPushNotificationConfig', { taskId: id, id: 'c' })).toEqual({});

    asked.add('SubscribeToTask');
    const following = socket.request('SubscribeToTask', { id });
    await socket.next(following);
    expect((await call('CancelTask', { id })).status.state).toBe('TASK_STATE_CANCELED');
    expect((await socket.all(following)).at(-2).result).toMatchObject({
      statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } },
    });
    expect(await call('GetExtendedAgentCard', {})).toMatchObject({
      description: 'Converts more',
      supportedInterfaces: [
        { url, protocolBinding: 'https://batonjs.dev/bindings/websocket/v1', protocolVersion: '1.0' },
      ],
    });
    expect(asked).toEqual(new Set(operationNames));
  });

  it('are answered in the order in which they end, many at a time [R-WS-07]', async () => {
    const { url } = await serve();
    const socket = await rawSocket(url);
    const waiting = socket.request('SendMessage', message('wait'));
    const stream = socket.request('SendStreamingMessage', message('wait'));
    const { result } = await socket.next(stream);
    const [first, second] = [socket.request('GetTask', { id: result.task.id }), socket.request('ListTasks')];
    await Promise.all([socket.next(first), socket.next(second)]);
    expect(socket.frames.map(({ id }) => id)).not.toContain(waiting);
  });

  it('tell "1" and 1 apart [R-WS-12]', async () => {
    const { url } = await serve();
    const socket = await rawSocket(url);
    for (const id of ['1', 1, 0.5, '', -7])
      socket.send({ id, method: 'ListTasks', serviceParams: { 'A2A-Version': '1.0' } });
    const answers = await Promise.all(['1', 1, 0.5, '', -7].map((id) => socket.next(id)));
    for (const { result } of answers) expect(result).toMatchObject({ tasks: [] });
  });

  it('answer a stream with a message, and its end', async () => {
    const { url } = await serve({ agent: echo });
    const socket = await rawSocket(url);
    const [first, ...rest] = await socket.all(socket.request('SendStreamingMessage', message('hi')));
    expect(first.result).toMatchObject({ message: { parts: [{ text: 'You said hi' }] } });
    expect(rest).toEqual([{ jsonrpc: '2.0', id: first.id, streamEnd: true }]);
  });

  it('say which extensions are active, once per answer [R-CB-03]', async () => {
    const uri = 'https://example.com/extension';
    const { url } = await serve({
      card: { name: 'C', description: 'C', capabilities: { extensions: [{ uri }] } },
    });
    const socket = await rawSocket(url);
    const serviceParams = { 'a2a-version': '1.0', 'A2A-Extensions': `https://other.example, ${uri}` };
    const [first, second] = await socket.all(
      socket.request('SendStreamingMessage', message('ask'), { serviceParams }),
    );
    expect(first.serviceParams).toEqual({ 'a2a-extensions': uri });
    expect(second.serviceParams).toBeUndefined();
    const { result } = first;
    const single = socket.request('GetTask', { id: result.task.id }, { serviceParams });
    expect((await socket.next(single)).serviceParams).toEqual({ 'a2a-extensions': uri });
  });
});

describe('a stream', () => {
  it('is resumed after a position, and ends with streamEnd [R-WS-14] [R-WS-31] [R-CB-05]', async () => {
    const { url } = await serve();
    const socket = await rawSocket(url);
    const frames = await socket.all(socket.request('SendStreamingMessage', message('100 USD')));
    const { id } = frames[0].result.task;
    expect(frames.slice(0, -1).map(({ version }) => typeof version)).toEqual(Array(4).fill('string'));
    expect(Object.keys(frames.at(-1))).toEqual(['jsonrpc', 'id', 'streamEnd']);
    const other = await rawSocket(url);
    const serviceParams = { 'a2a-version': '1.0', 'Last-Event-ID': frames[1].version };
    const rest = await other.all(other.request('SubscribeToTask', { id }, { serviceParams }));
    expect(rest.map(({ id: _, ...frame }) => frame)).toEqual(
      frames.slice(2).map(({ id: _, ...frame }) => frame),
    );
  });

  it('is canceled by its id; its task goes on [R-WS-15]', async () => {
    const goOn = gate();
    const { url, server } = await serve({
      async *agent() {
        yield working('one');
        await goOn.promise;
        yield completed('two');
      },
    });
    const socket = await rawSocket(url);
    const stream = socket.request('SendStreamingMessage', message('go'));
    const { result } = await socket.next(stream);
    await socket.next(stream);
    socket.send({ jsonrpc: '2.0', id: stream, cancelStream: true });
    expect(await socket.next(stream)).toEqual({ jsonrpc: '2.0', id: stream, streamEnd: true });
    expect(server.load.turns).toBe(1);
    const following = socket.request('SubscribeToTask', { id: result.task.id });
    await socket.next(following);
    goOn.resolve();
    const ended = await socket.all(following);
    expect(JSON.stringify(ended)).toContain('TASK_STATE_COMPLETED');
    expect(socket.frames.filter(({ id }) => id === stream)).toHaveLength(3);
    // The id is free again.
    socket.send({ jsonrpc: '2.0', id: stream, method: 'ListTasks', serviceParams: { 'a2a-version': '1.0' } });
    expect(await socket.next(stream)).toMatchObject({ result: { totalSize: 1 } });
  });

  it.each([7, 'probe'])('that nobody knows is canceled with streamEnd as well: %j [R-WS-15]', async (id) => {
    const { url } = await serve();
    const socket = await rawSocket(url);
    socket.send({ jsonrpc: '2.0', id, cancelStream: true });
    expect(await socket.next()).toEqual({ jsonrpc: '2.0', id, streamEnd: true });
  });

  it('and its id are left alone by a second request with the id [R-WS-36]', async () => {
    const { url, server } = await serve();
    const socket = await rawSocket(url);
    const id = socket.request('SendStreamingMessage', message('wait'));
    const { result } = await socket.next(id);
    await socket.next(id);
    socket.send({ jsonrpc: '2.0', id, method: 'ListTasks', serviceParams: { 'a2a-version': '1.0' } });
    const refusal = await socket.next((frame: { error?: unknown }) => frame.error);
    expect(refusal).toMatchObject({
      id: null,
      error: { code: -32_600, message: expect.stringContaining(`${id} is in use`) },
    });
    // Nor does an error in a frame with the id end it.
    socket.send({ jsonrpc: '2.0', id, method: 1 });
    expect(await socket.next((frame: { error?: unknown }) => frame.error)).toMatchObject({ id: null });
    expect(server.load.turns).toBe(1);
    await socket.next(socket.request('CancelTask', { id: result.task.id }));
    expect((await socket.all(id)).at(-1)).toEqual({ jsonrpc: '2.0', id, streamEnd: true });
  });

  it('ends with the connection, and its task goes on [R-WS-36]', async () => {
    const { url, server, endpoint } = await serve();
    const socket = await rawSocket(url);
    const id = socket.request('SendStreamingMessage', message('wait'));
    await socket.next(id);
    socket.ws.close(1000);
    expect(await socket.closed).toBe(1000);
    await expect.poll(() => endpoint.connections).toBe(0);
    expect(server.load.turns).toBe(1);
  });
});
