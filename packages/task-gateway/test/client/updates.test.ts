import { connectTasks } from '@batonjs/task-gateway/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/kit/until.ts';
import { Dropped, openConnection } from '../../src/client/update-connection.ts';
import { network, PlayedSocket } from './network.ts';

const update = (sequence: number, status = 'in_progress', taskId = 't') => ({
  event: 'task_update' as const,
  taskId,
  status: status as 'in_progress',
  sequence,
});
const subscribe = (after?: number, taskId = 't') => ({
  event: 'subscribe',
  taskId,
  ...(after !== undefined && { after }),
});

/** A connection that is open. */
async function open() {
  const socket = new PlayedSocket();
  const opening = openConnection(socket.like, () => {});
  socket.happen('open');
  return { socket, connection: await opening };
}

describe('a connection', () => {
  it.each(['error', 'close'] as const)('that does not open, with %s, is dropped', async (type) => {
    const socket = new PlayedSocket();
    const opening = openConnection(socket.like, () => {});
    socket.happen(type);
    await expect(opening).rejects.toThrow(new Dropped('No WebSocket'));
  });

  it('gives each update to the watches of its task, once and in order', async () => {
    const { socket, connection } = await open();
    const [one, other] = [connection.watch('t', undefined), connection.watch('other', 5)];
    expect(socket.sent).toEqual([subscribe(), subscribe(5, 'other')]);
    socket.happen('message', update(3));
    socket.happen('message', update(3));
    socket.happen('message', {
      event: 'task_updates',
      updates: [update(2), update(4), update(5, 'in_progress', 'other'), update(6, 'in_progress', 'other')],
    });
    socket.happen('message', { event: 'reply', to: 'subscribe', taskId: 't' });
    socket.happen('message', { event: 'error', error: { code: 'X', message: 'of no task' } });
    socket.happen('message', update(1, 'in_progress', 'none'));
    expect([await one.next(), await one.next()]).toEqual([update(3), update(4)]);
    expect(await other.next()).toEqual(update(6, 'in_progress', 'other'));
    const later = one.next();
    socket.happen('message', update(7));
    expect(await later).toEqual(update(7));
  });

  it('asks for the updates after the first sequence that a watch of the task lacks', async () => {
    const { socket, connection } = await open();
    const first = connection.watch('t', 7);
    connection.watch('t', 3);
    connection.watch('t', undefined);
    connection.watch('t', 9);
    expect(socket.sent).toEqual([subscribe(7), subscribe(3), subscribe(3), subscribe(3)]);
    socket.happen('message', update(7));
    socket.happen('message', update(8));
    expect(await first.next()).toEqual(update(8));
  });

  it('unsubscribes with the last watch of a task, while it is open', async () => {
    const { socket, connection } = await open();
    const [one, two] = [connection.watch('t', 0), connection.watch('t', 0)];
    socket.sent.length = 0;
    connection.end('t', one);
    connection.end('t', one);
    connection.end('none', one);
    expect(socket.sent).toEqual([]);
    connection.end('t', two);
    connection.end('t', two);
    expect(socket.sent).toEqual([{ event: 'unsubscribe', taskId: 't' }]);
    const last = connection.watch('t', 0);
    socket.sent.length = 0;
    socket.happen('close');
    expect(connection.isOpen()).toBe(false);
    connection.end('t', last);
    expect(socket.sent).toEqual([]);
  });

  it('fails a watch with the error of its task, after what came before', async () => {
    const { socket, connection } = await open();
    const [watch, other] = [connection.watch('t', 0), connection.watch('other', 0)];
    socket.happen('message', update(1));
    socket.happen('message', {
      event: 'error',
      taskId: 't',
      error: { code: 'TASK_NOT_FOUND', message: 'No' },
    });
    socket.happen('message', { event: 'error', taskId: 't', error: { code: 'LATER', message: 'No' } });
    expect(await watch.next()).toEqual(update(1));
    await expect(watch.next()).rejects.toMatchObject({
      name: 'TaskError',
      code: 'TASK_NOT_FOUND',
      message: 'No',
    });
    socket.happen('message', update(1, 'in_progress', 'other'));
    expect(await other.next()).toEqual(update(1, 'in_progress', 'other'));
  });

  it.each(['close', 'drop'])('fails all watches when it ends: %s', async (how) => {
    const { socket, connection } = await open();
    const watches = [connection.watch('t', 0), connection.watch('t', 0), connection.watch('other', 0)];
    const next = watches.map((watch) => watch.next());
    if (how === 'close') connection.close();
    else socket.happen('close');
    for (const one of next) await expect(one).rejects.toThrow(new Dropped('Dropped'));
    expect([connection.isOpen(), socket.isClosed]).toEqual([false, how === 'close']);
  });
});

describe('a watch over a WebSocket', () => {
  /** A client whose WebSockets the test plays. */
  function played(answers = {}, query?: Record<string, string>) {
    const sockets: PlayedSocket[] = [];
    const openSocket = (url: string) => {
      const socket = new PlayedSocket(url);
      sockets.push(socket);
      return socket.like;
    };
    const made = network(
      { 'GET /task/t': [{ ...update(1), type: 'work', data: {} }], ...answers },
      { openSocket, ...(query && { query }) },
    );
    const nth = (n: number) =>
      eventually(() => {
        expect(sockets.length).toBeGreaterThan(n);
        return sockets[n]!;
      });
    return { ...made, sockets, nth };
  }

  it.each<[Record<string, string> | undefined, string]>([
    [undefined, 'ws://gateway.example/base/task/updates'],
    [{}, 'ws://gateway.example/base/task/updates'],
    [{ token: 'a b', batchMs: '5' }, 'ws://gateway.example/base/task/updates?token=a+b&batchMs=5'],
  ])('with the query %j opens %s', async (query, url) => {
    const { client, nth } = played({}, query);
    const next = client.watch('t').next();
    const socket = await nth(0);
    expect(socket.url).toBe(url);
    socket.happen('open');
    await eventually(() => expect(socket.sent).toEqual([subscribe()]));
    socket.happen('message', update(3, 'completed'));
    expect((await next).value).toEqual(update(3, 'completed'));
  });

  it('ends with the task, and says so to the gateway', async () => {
    const { client, nth, asked } = played();
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const one of client.watch('t', { after: 2 })) seen.push(one);
    })();
    const socket = await nth(0);
    socket.happen('open');
    await eventually(() => expect(socket.sent).toEqual([subscribe(2)]));
    for (const one of [update(3), update(4, 'failed')]) socket.happen('message', one);
    await watching;
    expect(seen).toEqual([update(3), update(4, 'failed')]);
    expect(socket.sent.at(-1)).toEqual({ event: 'unsubscribe', taskId: 't' });
    expect(asked).toEqual([]);
  });

  it('goes on over the next one after its last update, once the gateway answers', async () => {
    const { client, nth, calls } = played();
    const watch = client.watch('t');
    const first = watch.next();
    const one = await nth(0);
    one.happen('open');
    await eventually(() => expect(one.sent).toHaveLength(1));
    one.happen('message', update(3));
    expect((await first).value).toEqual(update(3));
    const second = watch.next();
    one.happen('close');
    const two = await nth(1);
    two.happen('open');
    await eventually(() => expect(two.sent).toEqual([subscribe(3)]));
    two.happen('message', update(4, 'canceled'));
    expect((await second).value).toEqual(update(4, 'canceled'));
    expect(calls()).toEqual(['GET /task/t']);
    expect((await watch.next()).done).toBe(true);
  });

  it('polls where none opens, and does not try again at once', async () => {
    const { client, nth, sockets, calls } = played({
      'GET /task/t?after=1&wait=20': [{ ...update(2, 'completed'), type: 'work', data: {} }],
      'GET /task/t/history?after=1': [{ transitions: [{ status: 'completed', sequence: 2 }] }],
    });
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const one of client.watch('t')) seen.push(one);
    })();
    (await nth(0)).happen('error');
    await watching;
    expect(seen).toEqual([update(1), update(2, 'completed')]);
    expect(sockets).toHaveLength(1);
    expect(calls()).toHaveLength(3);
    for await (const _ of client.watch('t', { after: 1 }));
    expect(sockets).toHaveLength(1);
  });

  it('polls where opening one throws', async () => {
    const { client } = network(
      { 'GET /task/t': [{ ...update(1, 'completed'), type: 'work', data: {} }] },
      {
        openSocket() {
          throw new Error('No WebSocket here');
        },
      },
    );
    expect((await client.watch('t').next()).value).toEqual(update(1, 'completed'));
  });

  it('ends with its signal, also one that was aborted before, and leaves no listener', async () => {
    const { client, nth } = played();
    const added: unknown[] = [];
    const removed: unknown[] = [];
    const abort = new AbortController();
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (type: 'abort', call: () => void) => {
        added.push(type);
        add(type, call);
      },
      removeEventListener: (type: 'abort', call: () => void) => {
        removed.push(type);
        remove(type, call);
      },
    });
    const next = client.watch('t', { signal }).next();
    const socket = await nth(0);
    socket.happen('open');
    await eventually(() => expect(socket.sent).toHaveLength(1));
    const reason = new Error('Enough');
    abort.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect([added, removed]).toEqual([['abort'], ['abort']]);
    expect(socket.sent.at(-1)).toEqual({ event: 'unsubscribe', taskId: 't' });
    await expect(client.watch('t', { signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
  });

  it('ends with its signal also while it asks whether the gateway is there', async () => {
    const socket = new PlayedSocket();
    const asked = Promise.withResolvers<Request>();
    const client = connectTasks('http://gateway.example', {
      openSocket: () => socket.like,
      fetch(request) {
        asked.resolve(request);
        return new Promise((_, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        });
      },
    });
    onTestFinished(() => client.close());
    const abort = new AbortController();
    const next = client.watch('t', { signal: abort.signal }).next();
    await turns();
    socket.happen('open');
    await eventually(() => expect(socket.sent).toHaveLength(1));
    socket.happen('close');
    const request = await asked.promise;
    const reason = new Error('Enough');
    abort.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(request.signal.reason).toBe(reason);
  });

  it('ends with its client, whose WebSocket is closed', async () => {
    const { client, nth, asked } = played();
    const next = client.watch('t').next();
    const socket = await nth(0);
    socket.happen('open');
    await eventually(() => expect(socket.sent).toHaveLength(1));
    client.close();
    await expect(next).rejects.toMatchObject({ code: 'NETWORK', message: 'The client was closed' });
    expect([socket.isClosed, asked]).toEqual([true, []]);
  });
});

const turns = () => new Promise((resolve) => setImmediate(resolve));
