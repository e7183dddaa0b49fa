import { once } from 'node:events';
import { connect } from 'node:net';
import { approveExpense, card } from '@batonjs/expense-agent';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { type Agent, completed, createAgentServer, inputRequired, working } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../../../test/kit/closed-after-test.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { eventually } from '../../../test/kit/until.ts';
import { serveTasks } from './service.ts';
import { openSocket, updatesOf } from './socket.ts';

/** An agent that works in steps; each waits for `go`. */
function stepping(steps: number) {
  const gates = Array.from({ length: steps }, () => Promise.withResolvers<void>());
  const agent: Agent = async function* () {
    for (const [n, gate] of gates.entries()) {
      yield working(`Step ${n}`, progress(n, steps));
      await gate.promise;
    }
    yield completed('Done');
  };
  const extended = extend({ card: { name: 'Stepping', description: 'Works in steps' }, agent }, taskProgress);
  const server = closedAfterTest(createAgentServer({ ...extended, store: memoryStore(), logger: () => {} }));
  let opened = 0;
  const go = (count = steps) => {
    opened += count;
    for (const gate of gates.slice(0, opened)) gate.resolve();
  };
  return { server, go };
}

const submission = { taskId: 't', type: 'work', data: {} };
const isFinal = ({ status }: { status: string }) => status === 'completed';

describe('a subscription', () => {
  it('gets each update as the seed prints it, plus its sequence', async () => {
    const { server, go } = stepping(2);
    const service = await serveTasks({ types: { work: server } });
    const socket = await openSocket(service.url);
    socket.send({ event: 'submit', requestId: 'r', ...submission });
    expect(await socket.next()).toMatchObject({
      event: 'reply',
      to: 'submit',
      requestId: 'r',
      isNew: true,
      task: { taskId: 't', type: 'work', data: {} },
    });
    socket.send({ event: 'subscribe', taskId: 't', after: 0 });
    expect(await socket.next(({ progress }) => progress === 0)).toEqual({
      event: 'task_update',
      taskId: 't',
      status: 'in_progress',
      progress: 0,
      sequence: expect.any(Number),
    });
    go();
    const last = await socket.next(isFinal);
    expect(last).toEqual({
      event: 'task_update',
      taskId: 't',
      status: 'completed',
      result: { text: 'Done' },
      sequence: expect.any(Number),
    });
    const { transitions } = (await service.get('/task/t/history')).body;
    expect(updatesOf(socket)).toEqual(
      transitions.map(({ time, message, ...update }: Record<string, unknown>) => ({
        event: 'task_update',
        taskId: 't',
        ...update,
      })),
    );
  });

  it('without a sequence begins with the task as it is', async () => {
    const service = await serveTasks({
      types: {
        work: serve(async function* () {
          yield completed('Done');
        }),
      },
    });
    await service.post('/task', submission);
    const { sequence } = await service.ended('t');
    const socket = await openSocket(service.url);
    socket.send({ event: 'subscribe', taskId: 't' });
    expect(await socket.next()).toMatchObject({ status: 'completed', sequence });
    // Nothing follows a final status: the socket may subscribe again, and gets it again.
    socket.send({ event: 'subscribe', taskId: 't' });
    expect(await socket.next()).toMatchObject({ sequence });
  });

  it('goes on after a sequence in another process, and misses and repeats nothing', async () => {
    const file = `${temporaryFolder()}/tasks.db`;
    const { server, go } = stepping(6);
    const [one, other] = await Promise.all(
      [1, 2].map(() => {
        const store = sqliteStore(file);
        onTestFinished(() => store.close());
        return serveTasks({ types: { work: server }, store });
      }),
    );
    const first = await openSocket(one!.url);
    first.send({ event: 'submit', ...submission });
    await first.next();
    first.send({ event: 'subscribe', taskId: 't', after: 0 });
    go(2);
    await first.next(({ progress }) => progress === 33);
    first.ws.terminate();
    await first.closed;
    go(2);
    const after = updatesOf(first).at(-1).sequence;
    const second = await openSocket(other!.url);
    second.send({ event: 'subscribe', taskId: 't', after });
    go(2);
    await second.next(isFinal);
    const { transitions } = (await one!.get('/task/t/history')).body;
    expect([...updatesOf(first), ...updatesOf(second)].map(({ sequence }) => sequence)).toEqual(
      transitions.map(({ sequence }: { sequence: number }) => sequence),
    );
  });

  it('ends with unsubscribe, and other tasks of the socket go on', async () => {
    const [one, two] = [stepping(1), stepping(1)];
    const service = await serveTasks({ types: { one: one.server, two: two.server } });
    const socket = await openSocket(service.url);
    for (const type of ['one', 'two']) {
      await service.post('/task', { taskId: type, type, data: {} });
      socket.send({ event: 'subscribe', taskId: type });
      await socket.next(({ taskId, progress }) => taskId === type && progress === 0);
    }
    socket.send({ event: 'unsubscribe', taskId: 'one', requestId: 'u' });
    expect(await socket.next()).toEqual({ event: 'reply', to: 'unsubscribe', requestId: 'u', taskId: 'one' });
    one.go();
    await service.ended('one');
    two.go();
    await socket.next(({ taskId, status }) => taskId === 'two' && status === 'completed');
    expect(updatesOf(socket, 'one').some(isFinal)).toBe(false);
  });

  it('with batchMs gets the updates of that time in one frame', async () => {
    const { server, go } = stepping(5);
    const service = await serveTasks({ types: { work: server } });
    await service.post('/task', submission);
    await service.until('t', ({ progress }) => progress === 0);
    const socket = await openSocket(service.url, '?batchMs=500');
    socket.send({ event: 'subscribe', taskId: 't', after: 0 });
    go();
    await eventually(() => expect(updatesOf(socket).some(isFinal)).toBe(true));
    const batches = socket.frames.filter(({ event }) => event === 'task_updates');
    expect(batches).toEqual(socket.frames);
    const sequences = updatesOf(socket).map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  });

  it('with batchMs gets no update before that time', async () => {
    const { server, go } = stepping(4);
    const service = await serveTasks({ types: { work: server } });
    await service.post('/task', submission);
    const socket = await openSocket(service.url, '?batchMs=10000');
    socket.send({ event: 'subscribe', taskId: 't', requestId: 's' });
    await socket.next(({ requestId }) => requestId === 's');
    for (const percent of [25, 50, 75]) {
      go(1);
      await service.until('t', ({ progress }) => progress === percent);
    }
    // The reply comes after all that was sent before it.
    socket.send({ event: 'unsubscribe', taskId: 'other', requestId: 'u' });
    await socket.next(({ requestId }) => requestId === 'u');
    expect(socket.frames.map(({ event }) => event)).toEqual(['reply', 'reply']);
  });
});

describe('a WebSocket', () => {
  it('answers a form and cancels', async () => {
    const asking = serve(async function* ({ messages, text }) {
      if (messages.length === 1) return yield inputRequired('How much?');
      yield completed(`You said ${text}`);
    });
    const service = await serveTasks({ types: { work: asking } });
    const socket = await openSocket(service.url);
    for (const taskId of ['t', 'u']) {
      socket.send({ event: 'submit', ...submission, taskId });
      await socket.next(({ to }) => to === 'submit');
      socket.send({ event: 'subscribe', taskId });
      await socket.next(({ event, form }) => event === 'task_update' && form);
    }
    socket.send({ event: 'input', taskId: 't', values: { text: '5' } });
    expect(await socket.next(isFinal)).toMatchObject({ taskId: 't', result: { text: 'You said 5' } });
    socket.send({ event: 'cancel', taskId: 'u', requestId: 'c' });
    await socket.next(({ event, status }) => event === 'task_update' && status === 'canceled');
    await socket
      .next(({ requestId, task }) => requestId === 'c' && task.status === 'canceled')
      .catch(() => {});
    expect(socket.frames).toContainEqual(
      expect.objectContaining({ event: 'reply', to: 'cancel', requestId: 'c' }),
    );
  });

  it('runs a task once that is submitted on two sockets at once', async () => {
    const service = await serveTasks({
      types: {
        expense: closedAfterTest(
          createAgentServer({ agent: approveExpense, card, store: memoryStore(), logger: () => {} }),
        ),
      },
    });
    const sockets = await Promise.all([openSocket(service.url), openSocket(service.url)]);
    const task = { taskId: 't', type: 'expense', data: { amount: 100, currency: 'USD' } };
    for (const socket of sockets) socket.send({ event: 'submit', ...task });
    const replies = await Promise.all(sockets.map((socket) => socket.next()));
    expect(replies.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
    sockets[0]!.send({ event: 'submit', ...task, data: { amount: 1, currency: 'USD' } });
    expect(await sockets[0]!.next()).toMatchObject({ event: 'error', error: { code: 'TASK_CONFLICT' } });
  });

  it('of a client that does not read gets the latest state of each task when it reads again', async () => {
    const large = serve(async function* () {
      yield completed('x'.repeat(500_000));
    });
    const { server, go } = stepping(20);
    const types = { work: server, large };
    const service = await serveTasks({ types, webSockets: { slowMs: 0, compression: false } });
    const connections: import('node:net').Socket[] = [];
    service.listener.on('connection', (connection) => connections.push(connection));
    const ids = Array.from({ length: 40 }, (_, n) => `large-${n}`);
    for (const taskId of ids) await service.post('/task', { taskId, type: 'large', data: {} });
    for (const taskId of ids) await service.ended(taskId);
    await service.post('/task', submission);
    const socket = await openSocket(service.url);
    socket.send({ event: 'subscribe', taskId: 't' });
    await socket.next(({ progress }) => progress === 0);
    for (const taskId of ids) socket.send({ event: 'subscribe', taskId });
    socket.ws.pause();
    await eventually(() =>
      expect(Math.max(...connections.map(({ writableLength }) => writableLength))).toBeGreaterThan(65_536),
    );
    go();
    await service.ended('t');
    // A few results at most wait in memory, however many there are.
    const waiting = Math.max(...connections.map(({ writableLength }) => writableLength));
    expect(waiting).toBeLessThan(5_000_000);

    socket.ws.resume();
    expect(await socket.next(({ taskId, status }) => taskId === 't' && status === 'completed')).toBeDefined();
    const { transitions } = (await service.get('/task/t/history')).body;
    expect(updatesOf(socket).length).toBeLessThan(transitions.length / 2);
    const ended = () => new Set(ids.filter((id) => updatesOf(socket, id).some(isFinal)));
    await eventually(() => expect(ended().size).toBe(ids.length));
  });

  it('is compressed for clients that can read it', async () => {
    const work = serve(async function* () {
      yield completed('x'.repeat(200_000));
    });
    const service = await serveTasks({ types: { work } });
    await service.post('/task', submission);
    await service.ended('t');
    const bytes = async (perMessageDeflate: boolean) => {
      const socket = await openSocket(service.url, '', { perMessageDeflate });
      expect(socket.ws.extensions).toBe(perMessageDeflate ? 'permessage-deflate' : '');
      socket.send({ event: 'subscribe', taskId: 't' });
      await socket.next(isFinal);
      return (socket.ws as unknown as { _socket: { bytesRead: number } })._socket.bytesRead;
    };
    expect(await bytes(true)).toBeLessThan((await bytes(false)) / 20);
  });

  it('has at most 32 requests under way', async () => {
    const open = Promise.withResolvers<void>();
    const memory = memoryStore();
    let underWay = 0;
    const store: typeof memory = {
      ...memory,
      async load(...given) {
        underWay += 1;
        await open.promise;
        return memory.load(...given);
      },
    };
    const service = await serveTasks({ types: {}, store });
    const socket = await openSocket(service.url);
    for (let n = 0; n < 100; n++) socket.send({ event: 'cancel', taskId: `t${n}` });
    await eventually(() => expect(underWay).toBe(32));
    open.resolve();
    await eventually(() => expect(socket.frames).toHaveLength(100));
    expect(new Set(socket.frames.map(({ error }) => error.code))).toEqual(new Set(['TASK_NOT_FOUND']));
  });

  it('that answers no ping is disconnected', async () => {
    const service = await serveTasks({ types: {}, webSockets: { pingMs: 100 } });
    const socket = await openSocket(service.url, '', { autoPong: false });
    expect(await socket.closed).toBe(1001);
  });

  it('that is idle is closed with 4000', async () => {
    const service = await serveTasks({ types: {}, webSockets: { idleMs: 100 } });
    expect(await (await openSocket(service.url)).closed).toBe(4_000);
  });

  it('sees how a task ends that finishes while the gateway closes', async () => {
    const { server, go } = stepping(2);
    const service = await serveTasks({ types: { work: server } });
    await service.post('/task', submission);
    const waiting = service.get('/task/t?after=1000&wait=60');
    const socket = await openSocket(service.url);
    socket.send({ event: 'subscribe', taskId: 't' });
    await socket.next(({ progress }) => progress === 0);
    const closing = service.gateway.close();
    go();
    expect((await waiting).body).toMatchObject({ status: 'completed' });
    const ended = socket.next(({ status }) => status === 'completed');
    expect(await Promise.race([ended, socket.closed])).toMatchObject({ taskId: 't' });
    expect(await socket.closed).toBe(1001);
    await closing;
  });

  it('is closed with 1001 when the gateway closes', async () => {
    const service = await serveTasks({ types: {} });
    const socket = await openSocket(service.url);
    await service.gateway.close();
    expect(await socket.closed).toBe(1001);
    await expect(openSocket(service.url)).rejects.toThrow('503');
  });
});

describe('an upgrade', () => {
  it.each([
    ['of a page of another origin', {}, { origin: 'https://evil.example' }, '403'],
    ['of a page without an origin of its own', {}, { origin: 'null' }, '403'],
    [
      'of a page of a listed origin',
      { origins: ['https://app.example'] },
      { origin: 'https://app.example' },
      'open',
    ],
    ['of any page, if all may', { origins: true as const }, { origin: 'https://evil.example' }, 'open'],
    ['of a client without an origin', {}, {}, 'open'],
    ['beyond the number of sockets', { sockets: 0 }, {}, '503'],
    ['beyond the number of sockets of an address', { socketsPerCaller: 0 }, {}, '503'],
  ])('%s', async (_, webSockets, headers, outcome) => {
    const logged: unknown[] = [];
    const logger = (...line: unknown[]) => void logged.push(line);
    const service = await serveTasks({ types: {}, webSockets, logger });
    const opening = openSocket(service.url, '', { headers }).then(
      () => 'open',
      (error) => error.message,
    );
    expect(await opening).toContain(outcome);
    expect(logged).toEqual([]);
  });

  it('of a page of the same host is accepted', async () => {
    const service = await serveTasks({ types: {} });
    await openSocket(service.url, '', { headers: { origin: service.url } });
  });

  it.each([
    ['is refused', {}, '403'],
    ['is accepted if `publicUrl` has its host', { publicUrl: 'https://evil.example/tasks' }, 'open'],
    ['is left to `authenticate` if there is one', { authenticate: () => ({ scope: 'ada' }) }, 'open'],
  ])('of a page whose name leads to this machine %s', async (_, options, outcome) => {
    const service = await serveTasks({ types: {}, ...options });
    const headers = { host: 'evil.example', origin: 'http://evil.example' };
    const opening = openSocket(service.url, '', { headers }).then(
      () => 'open',
      (error) => error.message,
    );
    expect(await opening).toContain(outcome);
  });

  it('is authenticated, and its socket sees only the tasks of its caller', async () => {
    const service = await serveTasks({
      types: {},
      authenticate: ({ query }) => (query.get('token') ? { scope: query.get('token')! } : undefined),
    });
    await expect(openSocket(service.url)).rejects.toThrow('401');
    const ada = await openSocket(service.url, '?token=ada');
    ada.send({ event: 'submit', ...submission });
    await ada.next();
    const ben = await openSocket(service.url, '?token=ben');
    ben.send({ event: 'subscribe', taskId: 't' });
    expect(await ben.next()).toMatchObject({
      event: 'error',
      taskId: 't',
      error: { code: 'TASK_NOT_FOUND' },
    });
  });

  it.each([
    ['a batch that is no number', '?batchMs=soon', '400'],
    ['a batch that is too long', '?batchMs=10001', '400'],
    ['an unknown parameter', '?batch=1', '400'],
  ])('with %s is refused', async (_, query, status) => {
    const service = await serveTasks({ types: {} });
    await expect(openSocket(service.url, query)).rejects.toThrow(status);
  });

  it('at another path is refused', async () => {
    const service = await serveTasks({ types: {} });
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write('GET /other HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    const [first] = await once(socket, 'data');
    expect(String(first)).toMatch(/^HTTP\/1\.1 404/);
  });
});

const frames: Readonly<Record<string, readonly [frame: unknown, says: string, code?: string]>> = {
  'no JSON': ['{', 'JSON'],
  'a list': [[], 'object'],
  null: ['null', 'object'],
  'no event': [{ taskId: 't' }, 'event'],
  'an unknown event': [{ event: 'delete', taskId: 't' }, 'subscribe'],
  'an event of an object': [{ event: 'toString' }, 'event'],
  'an event that is a number': [{ event: 1 }, 'event'],
  'an unknown member': [{ event: 'subscribe', taskId: 't', since: 1 }, '"since"'],
  'a subscription without a task': [{ event: 'subscribe' }, 'taskId'],
  'a taskId that is a number': [{ event: 'subscribe', taskId: 1 }, 'taskId'],
  'a task that does not exist': [{ event: 'subscribe', taskId: 'none' }, 'no such task', 'TASK_NOT_FOUND'],
  'a sequence that is text': [{ event: 'subscribe', taskId: 't', after: '1' }, 'after'],
  'a negative sequence': [{ event: 'subscribe', taskId: 't', after: -1 }, 'after'],
  'a broken sequence': [{ event: 'subscribe', taskId: 't', after: 1.5 }, 'after'],
  'a requestId that is a number': [{ event: 'subscribe', taskId: 't', requestId: 1 }, 'requestId'],
  'an empty requestId': [{ event: 'subscribe', taskId: 't', requestId: '' }, 'requestId'],
  'a long requestId': [
    { event: 'subscribe', taskId: 't', requestId: 'x'.repeat(257) },
    '1 to 256 characters',
  ],
  'an unsubscribe with a sequence': [{ event: 'unsubscribe', taskId: 't', after: 1 }, 'there are taskId'],
  'a cancel with values': [{ event: 'cancel', taskId: 't', values: 1 }, 'there are taskId'],
  'an input with a sequence': [{ event: 'input', taskId: 't', after: 1 }, 'there are taskId, formId, values'],
  'a submission with a sequence': [
    { event: 'submit', taskId: 't', after: 1 },
    'there are taskId, type, data, status',
  ],
  'a sequence beyond all integers': [{ event: 'subscribe', taskId: 't', after: 2 ** 53 }, 'after'],
  'an unsubscribe without a task': [{ event: 'unsubscribe' }, 'taskId'],
  'a submission without data': [{ event: 'submit', type: 'work' }, 'data'],
  'a submission without a type': [{ event: 'submit', data: {} }, 'type'],
  'a submission with a final status': [
    { event: 'submit', type: 'work', data: {}, status: 'failed' },
    'status',
  ],
  'a cancel of a task that does not exist': [{ event: 'cancel', taskId: 'none' }, 'task', 'TASK_NOT_FOUND'],
  'an input without values': [{ event: 'input', taskId: 't' }, 'values'],
  'an input to a task that does not exist': [
    { event: 'input', taskId: 'none', values: {} },
    'task',
    'TASK_NOT_FOUND',
  ],
  'values that are a list': [{ event: 'input', taskId: 't', values: [] }, 'values'],
  'JSON that is nested too deeply': [`{"a":${'['.repeat(70)}${']'.repeat(70)}}`, 'nest'],
};

describe('a frame is refused that has', () => {
  it.each(Object.entries(frames))('%s', async (_, [frame, says, code = 'INVALID_REQUEST']) => {
    const service = await serveTasks({ types: {} });
    const socket = await openSocket(service.url);
    socket.send(frame);
    const { event, error } = await socket.next();
    expect({ event, error }).toEqual({
      event: 'error',
      error: { code, message: expect.stringContaining(says) },
    });
    // The socket still works.
    socket.send({ event: 'submit', requestId: 'r', type: 'none', data: {} });
    expect(await socket.next()).toMatchObject({ event: 'reply', requestId: 'r' });
  });

  it.each([
    ['bytes', Buffer.from('{}'), 1003],
    ['more bytes than a frame may have', 'x'.repeat(5_000), 1009],
  ])('%s, and the socket is closed', async (_, frame, code) => {
    const service = await serveTasks({ types: {}, bodyBytes: 4_096 });
    const socket = await openSocket(service.url);
    socket.send(frame);
    expect(await socket.closed).toBe(code);
  });

  it('more subscriptions than one socket may have', async () => {
    const service = await serveTasks({
      types: { work: stepping(1).server },
      webSockets: { subscriptions: 1 },
    });
    const socket = await openSocket(service.url);
    for (const taskId of ['a', 'b']) {
      await service.post('/task', { ...submission, taskId });
      socket.send({ event: 'subscribe', taskId });
    }
    expect(await socket.next(({ event }) => event === 'error')).toMatchObject({
      taskId: 'b',
      error: { code: 'RESOURCE_EXHAUSTED' },
    });
  });
});
