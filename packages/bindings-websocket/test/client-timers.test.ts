import { once } from 'node:events';
import { createServer as createTcpServer } from 'node:net';
import type { Call, TransportRequest } from '@batonjs/bindings';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type HeldTimers, holdTimers } from '../../../test/kit/held-timers.ts';
import { openSocket } from '../src/client/open-socket-browser.ts';
import { type WebSocketClientOptions, webSocketClient } from '../src/client.ts';
import { foreign } from './foreign.ts';
import type { Frame } from './raw-socket.ts';

const options = { probeMs: 50_000, answerMs: 60_000, idleMs: 70_000 };
const isHeld = (ms: number) => ms > 31_000 || ms === 25_000;

/** A client of a server that answers when the test says so. */
async function begin(more: WebSocketClientOptions = {}) {
  const timers = holdTimers(isHeld);
  const frames: Frame[] = [];
  let answer: (frame: unknown) => void = () => {};
  const ends: Promise<unknown>[] = [];
  const url = await foreign(
    (frame, send) => {
      frames.push(frame);
      answer = send;
    },
    'a2a.v1',
    (socket) => void ends.push(new Promise((resolve) => socket.once('close', resolve))),
  );
  const client = webSocketClient({ ...options, ...more });
  onTestFinished(() => client.close());
  const call = (signal = request.signal): Promise<unknown> =>
    client.call({ operation: 'ListTasks', params: {} } as Call, { ...request, signal });
  const request = {
    url,
    headers: {},
    signal: new AbortController().signal,
    maxBytes: 1e6,
  } as TransportRequest;
  const arrived = (count: number) => expect.poll(() => frames.length).toBe(count);
  return { timers, client, call, frames, arrived, ends, send: (frame: unknown) => answer(frame) };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
const probe = { jsonrpc: '2.0', id: 'probe', cancelStream: true };

it('one timer looks after a connection, and keeps no process alive', async () => {
  const { timers, call, send, arrived } = await begin();
  const [first, second] = [call(), call()];
  await arrived(2);
  expect(timers.open()).toEqual(['50000']);
  send({ id: 1, result: {} });
  expect(await first).toEqual({});
  expect(timers.open()).toEqual(['50000']);
  send({ id: 2, result: {} });
  await second;
  expect(timers.open()).toEqual(['70000']);
  const third = call();
  await arrived(3);
  expect(timers.open()).toEqual(['50000']);
  send({ id: 3, result: {} });
  await third;
});

it('a call that was left is not waited for', async () => {
  const { timers, call, arrived } = await begin();
  const leaving = new AbortController();
  const left = failureOf(call(leaving.signal));
  await arrived(1);
  expect(timers.open()).toEqual(['50000']);
  leaving.abort('enough');
  expect(await left).toBe('enough');
  expect(timers.open()).toEqual(['70000']);
});

it('an agent is asked whether it is there once it has said nothing for so long', async () => {
  const { timers, call, send, frames, arrived, ends } = await begin();
  const calls = [call(), failureOf(call())];
  await arrived(2);
  timers.pass(25_000);
  send({ id: 1, result: {} });
  await calls[0];
  timers.pass(25_000);
  timers.fire(50_000);
  // It spoke half of the time ago.
  expect(timers.open()).toEqual(['25000']);
  timers.pass(25_000);
  timers.fire(25_000);
  expect(timers.open()).toEqual(['60000']);
  await arrived(3);
  expect(frames.at(-1)).toEqual(probe);
  // Any frame is an answer.
  send({ jsonrpc: '2.0', id: 'probe', streamEnd: true });
  const other = call();
  send({ id: 3, result: {} });
  await other;
  timers.pass(60_000);
  timers.fire(60_000);
  await arrived(5);
  expect(frames.at(-1)).toEqual(probe);
  // No answer in time.
  timers.pass(1);
  timers.fire(60_000);
  expect(await calls[1]).toMatchObject({
    code: 'closed with 1001',
    message: 'The WebSocket was closed with 1001',
  });
  expect(timers.open()).toEqual([]);
  expect(await ends[0]).toBe(1006);
  const again = call();
  await arrived(6);
  expect(frames.at(-1)).toMatchObject({ id: 1, method: 'ListTasks' });
  send({ id: 1, result: {} });
  await again;
});

it('a connection that was idle for so long is closed', async () => {
  const { timers, call, send, arrived } = await begin();
  const first = call();
  await arrived(1);
  send({ id: 1, result: {} });
  await first;
  timers.fire(70_000);
  const second = call();
  await arrived(2);
  send({ id: 1, result: {} });
  await second;
});

it('a connection that ends leaves no timer', async () => {
  const { timers, client, call, arrived } = await begin();
  const waiting = failureOf(call());
  await arrived(1);
  client.close();
  await waiting;
  expect(timers.open()).toEqual([]);
});

it('a WebSocket of a browser may take so long to open', async () => {
  const timers: HeldTimers = holdTimers(isHeld);
  const silent = createTcpServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const request = {
    headers: {},
    maxBytes: 1e6,
    tls: undefined,
    openMs: 40_000,
    onText: () => {},
    onClose: () => {},
  };
  const opening = failureOf(openSocket({ ...request, url: `ws://127.0.0.1:${port}` }));
  timers.fire(40_000);
  expect(await opening).toEqual(new Error('No WebSocket within 40000 ms'));
  const url = await foreign(() => {});
  const socket = await openSocket({ ...request, url });
  expect(timers.open()).toEqual([]);
  socket.terminate();
  await failureOf(openSocket({ ...request, url: 'ws://127.0.0.1:1' }));
  expect(timers.open()).toEqual([]);
});

it('a WebSocket of a browser that was not opened is not closed either', async () => {
  const Own = WebSocket;
  const made: WebSocket[] = [];
  vi.stubGlobal(
    'WebSocket',
    class extends Own {
      constructor(...given: ConstructorParameters<typeof WebSocket>) {
        super(...given);
        made.push(this);
      }
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  const codes: number[] = [];
  const opening = openSocket({
    url: 'ws://127.0.0.1:1',
    headers: {},
    maxBytes: 1e6,
    tls: undefined,
    openMs: 20_000,
    onText: () => {},
    onClose: (code) => void codes.push(code),
  });
  await expect(opening).rejects.toThrow('The WebSocket was not opened');
  await expect.poll(() => made[0]?.readyState).toBe(Own.CLOSED);
  await new Promise((resolve) => setImmediate(resolve));
  expect(codes).toEqual([]);
});
