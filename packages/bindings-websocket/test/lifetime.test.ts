import { completed, type Turn, type Updates, working } from '@batonjs/server';
import { describe, expect, it, vi } from 'vitest';
import { echo, gate, serve } from './agent.ts';
import { message, type RawSocket, rawSocket } from './raw-socket.ts';

const hasError = ({ error }: { error?: unknown }) => error;

describe('a connection', () => {
  it('that sends bytes is closed with 1003 [R-WS-11] [R-WS-18]', async () => {
    const socket = await rawSocket((await serve()).url);
    socket.send(Buffer.from('{}'));
    expect(await socket.closed).toBe(1003);
  });

  it('that sends too much at once is closed with 1009 [R-WS-18]', async () => {
    const { url } = await serve({ limits: { bodyBytes: 2_000 } });
    const socket = await rawSocket(url);
    socket.request('SendMessage', message('x'.repeat(2_000)));
    expect(await socket.closed).toBe(1009);
  });

  it('that sends text that is no UTF-8 is closed with 1007', async () => {
    const socket = await rawSocket((await serve()).url);
    socket.ws.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect(await socket.closed).toBe(1007);
  });

  it('that sends no JSON gets an answer, and is closed with 1002 [R-WS-18]', async () => {
    const socket = await rawSocket((await serve()).url);
    socket.send('{');
    expect(await socket.next()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
    expect(await socket.closed).toBe(1002);
  });

  it.each<[string, object, object]>([
    ['no version, which means 0.3', {}, {}],
    ['another version', {}, { 'a2a-version': '2.0' }],
    ['another version than its upgrade', { 'a2a-version': '1.0' }, { 'a2a-version': '0.3' }],
  ])(
    'with %s gets an answer, and is closed with 4002 [R-WS-18] [R-WS-32]',
    async (_, headers, serviceParams) => {
      const socket = await rawSocket((await serve()).url, { headers: { ...headers } });
      const id = socket.request('ListTasks', {}, { serviceParams });
      expect((await socket.next(id)).error).toMatchObject({
        code: -32_009,
        data: [{ reason: 'VERSION_NOT_SUPPORTED' }],
      });
      expect(await socket.closed).toBe(4002);
    },
  );

  it.each<[string, object, object]>([
    ['its upgrade', { 'A2A-Version': '1.0' }, {}],
    ['a request', {}, { 'A2A-Version': '1.0.1' }],
    ['a request, over that of its upgrade', { 'A2A-Version': '0.3' }, { 'a2a-version': '1.0' }],
  ])('has the version of %s [R-WS-32]', async (_, headers, serviceParams) => {
    const socket = await rawSocket((await serve()).url, { headers: { ...headers } });
    expect(await socket.next(socket.request('ListTasks', {}, { serviceParams }))).toHaveProperty('result');
  });

  it('that sends too many messages gets an answer, and is closed with 1008 [R-WS-20]', async () => {
    const { url } = await serve({}, { messagesPerSecond: 0.001, burst: 3 });
    const socket = await rawSocket(url);
    for (let n = 0; n < 4; n++) socket.request('ListTasks');
    expect(await socket.next(hasError)).toMatchObject({
      id: null,
      error: {
        code: -32_000,
        message: 'Rate limit exceeded',
        data: [{ reason: 'RESOURCE_EXHAUSTED' }, { retryDelay: '1s' }],
      },
      serviceParams: { 'retry-after': '1' },
    });
    expect(await socket.closed).toBe(1008);
  });

  it('shares its rate with the others of its caller [R-WS-20]', async () => {
    const { url } = await serve(
      { authenticate: ({ headers }) => ({ scope: headers['x-name']! }) },
      { messagesPerSecond: 0.001, burst: 3 },
    );
    const open = (name: string) => rawSocket(url, { headers: { 'x-name': name } });
    const sockets = await Promise.all([open('ada'), open('ada'), open('ben')]);
    const [first, second, ben] = sockets as [RawSocket, RawSocket, RawSocket];
    for (let n = 0; n < 3; n++) await first.next(first.request('ListTasks'));
    second.request('ListTasks');
    expect(await second.closed).toBe(1008);
    expect(await ben.next(ben.request('ListTasks'))).toHaveProperty('result');
  });

  it('that answers no ping is closed with 1001 [R-WS-20]', async () => {
    const { url } = await serve({}, { pingMs: 100, pongMs: 50 });
    const socket = await rawSocket(url, { autoPong: false });
    expect(await socket.closed).toBe(1001);
  });

  it('that answers pings stays open [R-WS-20]', async () => {
    const { url } = await serve({}, { pingMs: 50 });
    const socket = await rawSocket(url);
    for (let pings = 0; pings < 4; pings++) await new Promise((resolve) => socket.ws.once('ping', resolve));
    expect(socket.ws.readyState).toBe(socket.ws.OPEN);
  });

  it.each([true, false])(
    'is compressed if the server does so, for clients that can read it: %s',
    async (compression) => {
      const { url } = await serve({ agent: echo }, { compression });
      const bytes = async (perMessageDeflate: boolean) => {
        const socket = await rawSocket(url, { perMessageDeflate });
        expect(socket.ws.extensions).toBe(compression && perMessageDeflate ? 'permessage-deflate' : '');
        await socket.next(socket.request('SendMessage', message('x'.repeat(100_000))));
        return (socket.ws as unknown as { _socket: { bytesRead: number } })._socket.bytesRead;
      };
      const ratio = (await bytes(true)) / (await bytes(false));
      if (compression) expect(ratio).toBeLessThan(0.05);
      else expect(ratio).toBeGreaterThan(0.9);
    },
  );

  it('that is idle is closed with 1001, one with a stream is not [R-WS-20]', async () => {
    // Long enough for a busy machine to send the first message.
    const { url } = await serve({}, { idleMs: 1_500 });
    const busy = await rawSocket(url);
    await busy.next(busy.request('SendStreamingMessage', message('wait')));
    const idle = await Promise.all([rawSocket(url), rawSocket(url)]);
    expect(await Promise.all(idle.map(({ closed }) => closed))).toEqual([1001, 1001]);
    expect(busy.ws.readyState).toBe(busy.ws.OPEN);
  });

  it('has a limit of streams, and of other calls; a task can be canceled beyond it [R-WS-17] [R-WS-20]', async () => {
    const { url } = await serve({}, { streams: 2, requests: 2 });
    const socket = await rawSocket(url);
    const streams = [0, 1].map(() => socket.request('SendStreamingMessage', message('wait')));
    const [first] = await Promise.all(streams.map((id) => socket.next(id)));
    const refused = await socket.next(socket.request('SendStreamingMessage', message('wait')));
    expect(refused).toMatchObject({
      error: {
        code: -32_000,
        message: 'Too many concurrent streams',
        data: [{ reason: 'RESOURCE_EXHAUSTED' }, { retryDelay: '1s' }],
      },
      serviceParams: { 'retry-after': '1' },
    });
    await socket.next(socket.request('CancelTask', { id: first.result.task.id }));
    await socket.all(streams[0]);
    await socket.next(socket.request('SendStreamingMessage', message('wait')));
    const waiting = [0, 1].map(() => socket.request('SendMessage', message('wait')));
    expect((await socket.next(socket.request('ListTasks'))).error.message).toBe(
      'Too many concurrent requests',
    );
    socket.send({ id: waiting[0], cancelStream: true });
    await socket.next(waiting[0]);
    expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');
  });
});

describe('credentials', () => {
  /** An agent whose callers are known by their token, until it expires. */
  async function withTokens(recheckMs?: number) {
    const tokens = new Map([
      ['Bearer old', 'ada'],
      ['Bearer new', 'ada'],
      ['Bearer bens', 'ben'],
    ]);
    const served = await serve(
      {
        authenticate({ headers }) {
          const scope = tokens.get(headers.authorization ?? '');
          return scope === undefined ? undefined : { scope };
        },
      },
      { recheckMs },
    );
    const open = (token: string) => rawSocket(served.url, { headers: { authorization: `Bearer ${token}` } });
    return { ...served, tokens, open };
  }
  const authenticate = (socket: RawSocket, credentials: string) =>
    socket.next(socket.request('Authenticate', { scheme: 'Bearer', credentials }));

  it('of the upgrade decide, whatever a request brings [R-WS-16]', async () => {
    const { open } = await withTokens();
    const [ada, ben] = await Promise.all([open('old'), open('bens')]);
    const { result } = await ada.next(ada.request('SendMessage', message('ask')));
    const serviceParams = { 'a2a-version': '1.0', authorization: 'Bearer old', Authorization: 'Bearer old' };
    const stolen = await ben.next(ben.request('GetTask', { id: result.task.id }, { serviceParams }));
    expect(stolen.error.code).toBe(-32_001);
  });

  it('are checked again before each request: an error, then 4001 [R-WS-17] [R-WS-19]', async () => {
    const { open, tokens } = await withTokens();
    const socket = await open('old');
    expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');
    tokens.delete('Bearer old');
    expect(await socket.next(socket.request('ListTasks'))).toMatchObject({
      error: { code: -32_000, data: [{ reason: 'UNAUTHENTICATED' }] },
    });
    expect(await socket.closed).toBe(4001);
  });

  it('are replaced in time by Authenticate [R-WS-19]', async () => {
    const { open, tokens, endpoint } = await withTokens(20);
    const socket = await open('old');
    const stream = socket.request('SendStreamingMessage', message('wait'));
    const { result } = await socket.next(stream);
    tokens.delete('Bearer old');
    await socket.next(({ control }: { control?: string }) => control);
    expect(await authenticate(socket, 'new')).toMatchObject({ result: {} });
    // The next check finds the new ones good; once they are not, there is another warning.
    await socket.next(socket.request('CancelTask', { id: result.task.id }));
    await socket.all(stream);
    await socket.next(socket.request('SendStreamingMessage', message('wait')));
    tokens.delete('Bearer new');
    await socket.next(({ control }: { control?: string }) => control);
    expect(endpoint.connections).toBe(1);
  });

  it('are not replaced by wrong ones, or by those of another caller', async () => {
    const { open } = await withTokens();
    const socket = await open('old');
    expect((await authenticate(socket, 'bens')).error.data[0].reason).toBe('PERMISSION_DENIED');
    expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');
    expect((await authenticate(socket, 'nobodys')).error.data[0].reason).toBe('UNAUTHENTICATED');
    expect(await socket.closed).toBe(4001);
  });

  it('count as good while the authenticator is broken', async () => {
    let isBroken = false;
    const asked = vi.fn();
    const { url } = await serve(
      {
        authenticate() {
          asked();
          if (isBroken) throw new Error('No connection to the keys');
          return { scope: 'ada' };
        },
      },
      { recheckMs: 20 },
    );
    const socket = await rawSocket(url);
    await socket.next(socket.request('SendStreamingMessage', message('wait')));
    isBroken = true;
    asked.mockClear();
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(2);
    expect(socket.frames.filter(({ control }) => control)).toEqual([]);
  });
});

describe('the end', () => {
  async function* twoSteps(goOn: Promise<void>, { signal }: Turn): Updates {
    yield working('one');
    await Promise.race([goOn, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
    yield completed('two');
  }

  it('of the server ends streams with streamEnd, and connections with 1001 [R-WS-37]', async () => {
    const goOn = gate();
    const { url, server } = await serve({ agent: (turn: Turn) => twoSteps(goOn.promise, turn) });
    const [idle, busy] = await Promise.all([rawSocket(url), rawSocket(url)]);
    const stream = busy.request('SendStreamingMessage', message('go'));
    await busy.next(stream);
    const closing = server.close({ graceMs: 5_000 });
    expect(await idle.closed).toBe(1001);
    await expect(rawSocket(url)).rejects.toThrow('503');
    // What was begun comes to its end.
    const late = await busy.next(busy.request('ListTasks'));
    expect(late.error).toMatchObject({ data: [{ reason: 'UNAVAILABLE' }, { retryDelay: '1s' }] });
    goOn.resolve();
    const frames = await busy.all(stream);
    expect(JSON.stringify(frames)).toContain('TASK_STATE_COMPLETED');
    expect(frames.at(-1)).toEqual({ jsonrpc: '2.0', id: stream, streamEnd: true });
    expect(await busy.closed).toBe(1001);
    await closing;
  });

  it('of the endpoint waits for its grace period, then ends streams and calls; tasks go on [R-WS-37]', async () => {
    const { url, endpoint, server } = await serve();
    const socket = await rawSocket(url);
    const stream = socket.request('SendStreamingMessage', message('wait'));
    await socket.next(stream);
    const call = socket.request('SendMessage', message('wait'));
    await expect.poll(() => server.load.turns).toBe(2);
    await endpoint.close({ graceMs: 50 });
    expect((await socket.all(stream)).at(-1)).toEqual({ jsonrpc: '2.0', id: stream, streamEnd: true });
    expect(await socket.closed).toBe(1001);
    expect(socket.frames.map(({ id }) => id)).not.toContain(call);
    expect(server.load.turns).toBe(2);
    expect(endpoint.connections).toBe(0);
  });

  it('does not wait for clients that do not take part in it', async () => {
    const { url, endpoint } = await serve();
    const socket = await rawSocket(url);
    socket.ws.pause();
    await endpoint.close({ graceMs: 0 });
    expect(endpoint.connections).toBe(0);
  });
});
