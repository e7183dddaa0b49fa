import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { listen } from '../../../test/kit/listen.ts';
import { openSocket } from '../src/client/open-socket-browser.ts';

/** A server, and a WebSocket as browsers have it: Node.js has the same. */
async function open(more: object = {}) {
  const sockets = new WebSocketServer({ server: createServer() });
  const url = (await listen(sockets.options.server as never)).replace('http', 'ws');
  const texts: [string, number][] = [];
  const closed = Promise.withResolvers<number>();
  const accepted = new Promise<{
    protocol: string;
    received: unknown[];
    closed: Promise<number>;
    ws: import('ws').WebSocket;
  }>((resolve) =>
    sockets.on('connection', (ws) => {
      const received: unknown[] = [];
      ws.on('message', (data) => received.push(String(data)));
      const ended = new Promise<number>((resolveCode) => ws.on('close', resolveCode));
      onTestFinished(() => ws.terminate());
      resolve({ protocol: ws.protocol, received, closed: ended, ws });
    }),
  );
  const opening = openSocket({
    url,
    headers: {},
    maxBytes: 1e6,
    tls: undefined,
    openMs: 20_000,
    onText: (text, bytes) => void texts.push([text, bytes]),
    onClose: closed.resolve,
    ...more,
  });
  return { opening, accepted, texts, closed: closed.promise };
}

it('sends and takes text, with its size, and nothing else', async () => {
  const { opening, accepted, texts } = await open();
  const socket = await opening;
  const server = await accepted;
  expect([socket.isOpen, server.protocol]).toEqual([true, 'a2a.v1']);
  socket.hold(true);
  socket.send('hello');
  await expect.poll(() => server.received).toEqual(['hello']);
  server.ws.send(Buffer.from('bytes'));
  server.ws.send('text');
  await expect.poll(() => texts).toEqual([['text', 4]]);
});

it.each([
  [1000, 1000],
  // A page may give no other code of the protocol.
  [1001, 1005],
])('is closed with %i as %i', async (given, code) => {
  const { opening, accepted, closed } = await open();
  const socket = await opening;
  socket.close(given);
  expect(socket.isOpen).toBe(false);
  expect(await (await accepted).closed).toBe(code);
  expect(await closed).toBe(code);
});

it('is closed where another one is broken off', async () => {
  const { opening, accepted, closed } = await open();
  (await opening).terminate();
  await (await accepted).closed;
  await closed;
});

it('says with which code the server closed it', async () => {
  const { opening, accepted, closed } = await open();
  await opening;
  (await accepted).ws.close(4001);
  expect(await closed).toBe(4001);
});

it('does not say why it was not opened', async () => {
  const { opening } = await open({ url: 'ws://127.0.0.1:1' });
  await expect(opening).rejects.toThrow(new Error('The WebSocket was not opened'));
});

it('has no credentials but cookies', async () => {
  const { opening } = await open({ headers: { authorization: 'Bearer x', 'x-key': 'y' } });
  await expect(opening).rejects.toMatchObject({
    reason: 'UNSUPPORTED_OPERATION',
    message:
      'A browser cannot send the headers authorization, x-key over WebSocket: use cookies, or another binding',
  });
});
