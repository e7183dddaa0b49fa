import { A2AError } from '@batonjs/protocol/errors';
import { completed, working } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { type HeldTimers, holdTimers } from '../../../test/kit/held-timers.ts';
import { MessageCount } from '../src/server/message-rate.ts';
import { gate, serve } from './agent.ts';
import { message, type RawSocket, rawSocket } from './raw-socket.ts';

const options = { pingMs: 50_000, pongMs: 60_000, idleMs: 70_000, recheckMs: 80_000, messageMs: 900 };
/** Those of the options, and that of the announced end of a connection. */
const isHeld = (ms: number) => ms === 900 || ms === 5_000 || (ms > 31_000 && ms < 2 ** 31 - 1);
const pongMs = options.pongMs + 5;

/** A server of an agent has timers of its own. */
const own = (timers: HeldTimers) => timers.open().filter((timer) => timer !== '5000');
const announced = (timers: HeldTimers) => timers.open().filter((timer) => timer === '5000').length;

const pinged = ({ ws }: RawSocket) => new Promise((resolve) => ws.once('ping', resolve));
const answered = async (socket: RawSocket) =>
  expect(await socket.next(socket.request('ListTasks'))).toHaveProperty('result');

/** A server whose timers fire when the test says so, with a connection that has a stream. */
async function held(client: { autoPong?: boolean } = {}, more: Parameters<typeof serve>[1] = {}) {
  const timers = holdTimers(isHeld);
  const goOn = gate();
  const served = await serve(
    {
      async *agent() {
        yield working('one');
        await goOn.promise;
        yield working('two');
        yield completed();
      },
    },
    { ...options, ...more },
  );
  const socket = await rawSocket(served.url, client);
  return { ...served, timers, socket, goOn };
}

describe('timers of the server', () => {
  it('are looks at messages, pings and rechecks, and keep no process alive', async () => {
    const { timers, endpoint, socket } = await held();
    expect(own(timers)).toEqual(['900', '50000', '80000']);
    timers.fire(50_000);
    expect(own(timers)).toEqual(['900', '50000', String(pongMs), '80000']);
    socket.ws.close();
    await expect.poll(() => endpoint.connections).toBe(0);
    await endpoint.close({ graceMs: 40_000 });
    expect(own(timers)).toEqual([]);
  });

  it('come as often as it takes for a connection that may be idle for less than the time between pings', async () => {
    const { timers } = await held({}, { idleMs: 45_000 });
    expect(own(timers)).toEqual(['900', '45000', '80000']);
  });

  it('of a grace period end with it', async () => {
    const { timers, endpoint, socket } = await held();
    await socket.next(socket.request('SendStreamingMessage', message('go')));
    const closing = endpoint.close({ graceMs: 40_000 });
    expect(timers.open()).toEqual(expect.arrayContaining(['40000 held', '41000 held']));
    timers.fire(40_000);
    expect(await socket.ended).toBe('1001 The server closes');
    await closing;
    expect(own(timers)).toEqual([]);
  });

  it('of a grace period end with the last connection', async () => {
    const { timers, endpoint, socket } = await held();
    await socket.next(socket.request('SendStreamingMessage', message('go')));
    const closing = endpoint.close({ graceMs: 40_000 });
    socket.ws.terminate();
    await closing;
    expect(own(timers)).toEqual([]);
  });

  it('break off a client that takes no part in the end', async () => {
    const { timers, endpoint, socket } = await held();
    socket.ws.pause();
    const closing = endpoint.close({ graceMs: 40_000 });
    timers.fire(40_000);
    expect(endpoint.connections).toBe(1);
    timers.fire(41_000);
    await closing;
    expect(own(timers)).toEqual([]);
  });
});

describe('a client that answers no ping', () => {
  it('is disconnected when its time is over, and not before', async () => {
    const { timers, socket } = await held({ autoPong: false });
    const first = pinged(socket);
    timers.fire(50_000);
    await first;
    timers.pass(options.pongMs - 1);
    const second = pinged(socket);
    timers.fire(pongMs);
    timers.fire(50_000);
    await second;
    timers.pass(1);
    timers.fire(pongMs);
    expect(await socket.ended).toBe('1001 No answer to a ping');
  });

  it('is broken off at the next ping if it takes no part in the end', async () => {
    const { timers, socket, endpoint } = await held({ autoPong: false });
    socket.ws.pause();
    timers.fire(50_000);
    timers.pass(options.pongMs);
    timers.fire(pongMs);
    expect(endpoint.connections).toBe(1);
    timers.fire(50_000);
    await expect.poll(() => endpoint.connections).toBe(0);
  });

  it.each<[string, boolean, (socket: RawSocket, goOn: () => void) => Promise<unknown>]>([
    ['a pong', true, answered],
    ['a request', false, answered],
    [
      'that it takes an event',
      false,
      async (socket, goOn) => {
        goOn();
        await socket.next(({ result }: { result?: object }) => JSON.stringify(result).includes('two'));
      },
    ],
  ])('stays connected by %s', async (what, autoPong, act) => {
    const { timers, socket, goOn, origin } = await held({ autoPong });
    await socket.next(socket.request('SendStreamingMessage', message('go')));
    await socket.next((frame: object) => JSON.stringify(frame).includes('one'));
    const ping = pinged(socket);
    timers.fire(50_000);
    await ping;
    // The request that shows that the pong has arrived is no traffic after the ping.
    if (what !== 'a pong') timers.pass(1);
    await act(socket, goOn.resolve);
    // By then the network has told the server that it took the event.
    await fetch(origin);
    timers.pass(options.pongMs);
    timers.fire(pongMs);
    await answered(socket);
  });
});

it('a connection is idle without calls, from its last frame on', async () => {
  const { timers, socket, url } = await held({}, { pongMs: 1e8 });
  const busy = await rawSocket(url);
  await busy.next(busy.request('SendStreamingMessage', message('go')));
  await answered(socket);
  timers.pass(options.idleMs - 1);
  const ping = pinged(socket);
  timers.fire(50_000);
  await ping;
  timers.pass(1);
  timers.fire(50_000);
  expect(await socket.ended).toBe('1001 Idle');
  await answered(busy);
});

it('a message may take its time to arrive, and no more', async () => {
  const { timers, socket, url } = await held();
  const other = await rawSocket(url);
  socket.ws.send('{', { fin: false });
  socket.ws.ping();
  await new Promise((resolve) => socket.ws.once('pong', resolve));
  timers.pass(options.messageMs - 1);
  timers.fire(900);
  socket.ws.ping();
  await new Promise((resolve) => socket.ws.once('pong', resolve));
  await answered(other);
  timers.pass(1);
  timers.fire(900);
  expect(await socket.ended).toBe('1008 A message took too long to arrive');
  await answered(other);
});

describe('a rate of messages', () => {
  it('allows a burst, and then so many a second', () => {
    const timers = holdTimers(() => false);
    const count = new MessageCount({ perSecond: 2, burst: 3 });
    const take = (times: number) => Array.from({ length: times }, () => count.take());
    expect(take(4)).toEqual([true, true, true, false]);
    timers.pass(499);
    expect(count.take()).toBe(false);
    timers.pass(1);
    expect(take(2)).toEqual([true, false]);
    timers.pass(1_000);
    expect(take(3)).toEqual([true, true, false]);
    // No more than a burst is saved up.
    timers.pass(60_000);
    expect(take(4)).toEqual([true, true, true, false]);
  });
});

describe('credentials of a connection with a stream', () => {
  const control = (frame: { control?: string }) => frame.control;

  /** A caller whose credentials are good until the test says otherwise. */
  async function withCaller() {
    const timers = holdTimers(isHeld);
    const asked: string[] = [];
    let answer: () => unknown = () => ({ scope: 'ada' });
    const served = await serve(
      {
        authenticate({ headers }) {
          asked.push(headers['x-name'] ?? '');
          return (headers.authorization ? { scope: 'ada' } : answer()) as never;
        },
      },
      options,
    );
    const open = async (name: string, stream = true) => {
      const socket = await rawSocket(served.url, { headers: { 'x-name': name } });
      if (stream) await socket.next(socket.request('SendStreamingMessage', message('wait')));
      return socket;
    };
    const become = (next: () => unknown) => {
      answer = next;
      asked.length = 0;
    };
    return { ...served, timers, asked, open, become };
  }
  const refused = () => undefined;
  const forbidden = () => {
    throw new A2AError('PERMISSION_DENIED', 'Not today');
  };

  it.each<[string, () => unknown, string]>([
    ['are refused', refused, 'Authentication required'],
    ['may no more', forbidden, 'Not today'],
    [
      'are those of another',
      () => ({ scope: 'ben' }),
      'These are the credentials of another caller: connect again',
    ],
  ])('that %s are announced once, and end the connection 5 s later', async (_, answer, reason) => {
    const { timers, open, become, asked } = await withCaller();
    const socket = await open('one');
    become(answer);
    // The second check begins before the first one has ended.
    timers.fire(80_000);
    timers.fire(80_000);
    const frame = { jsonrpc: '2.0', control: 'ReauthenticationRequired', reason, retryAfterMs: 5_000 };
    expect(await socket.next(control)).toEqual(frame);
    expect(asked).toEqual(['one', 'one']);
    // None of those that follow is made: the end is announced.
    timers.fire(80_000);
    timers.fire(5_000);
    expect(await socket.ended).toBe('4001 Unauthenticated');
    expect(asked).toEqual(['one', 'one']);
    expect(socket.frames.filter(control)).toHaveLength(1);
  });

  it('are not asked for again without streams, or once they have ended', async () => {
    const { timers, open, become, asked } = await withCaller();
    const [idle, socket] = [await open('idle', false), await open('streams')];
    const stream = socket.request('SendStreamingMessage', message('100 USD'));
    await socket.all(stream);
    become(() => ({ scope: 'ada' }));
    timers.fire(80_000);
    expect(asked).toEqual(['streams']);
    const { result } = await socket.next(socket.request('ListTasks', { status: 'TASK_STATE_WORKING' }));
    await socket.next(socket.request('CancelTask', { id: result.tasks[0].id }));
    await answered(idle);
    asked.length = 0;
    timers.fire(80_000);
    expect(asked).toEqual([]);
  });

  it('are forgotten with the connection, and when they are replaced', async () => {
    const { timers, open, become } = await withCaller();
    const [left, replaced] = [await open('left'), await open('replaced')];
    const before = announced(timers);
    become(refused);
    timers.fire(80_000);
    await Promise.all([left.next(control), replaced.next(control)]);
    expect(announced(timers)).toBe(before + 2);
    left.ws.terminate();
    await expect.poll(() => announced(timers)).toBe(before + 1);
    const params = { scheme: 'Bearer', credentials: 'new' };
    expect(await replaced.next(replaced.request('Authenticate', params))).toMatchObject({ result: {} });
    expect(announced(timers)).toBe(before);
    // Calls and checks have the new ones.
    timers.fire(80_000);
    await answered(replaced);
    expect(replaced.frames.filter(control)).toHaveLength(1);
  });

  it('are forgotten also where the connection ends while they are checked', async () => {
    const { timers, open, become, asked, endpoint } = await withCaller();
    const left = await open('left');
    const before = announced(timers);
    const answer = Promise.withResolvers<undefined>();
    become(() => answer.promise);
    timers.fire(80_000);
    await expect.poll(() => asked).toEqual(['left']);
    left.ws.terminate();
    await expect.poll(() => endpoint.connections).toBe(0);
    answer.resolve(undefined);
    become(() => ({ scope: 'ada' }));
    await answered(await open('other', false));
    expect(announced(timers)).toBe(before);
  });
});
