import { createServer } from 'node:http';
import type { AnswerCall, CallTarget } from '@batonjs/bindings';
import { createAgentServer } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { attachWebSocket } from '../src/index.ts';
import { converter, serve } from './agent.ts';
import { message, type RawSocket, rawSocket } from './raw-socket.ts';

/** An agent over WebSocket, and what its calls keep while they last. */
async function serveCounted() {
  const server = createAgentServer({
    card: { name: 'Converter', description: 'Converts money' },
    agent: converter,
    store: memoryStore(),
    logger: () => {},
    timeouts: { cancelGraceMs: 0 },
  });
  const signals: AbortSignal[] = [];
  let events = 0;
  const answerCall: AnswerCall = async (call) => {
    signals.push(call.signal);
    const answer = await server.answerCall(call);
    if (!('events' in answer)) return answer;
    events += 1;
    const counted = {
      next: () => answer.events.next(),
      close() {
        events -= 1;
        answer.events.close();
        counted.close = () => {};
      },
    };
    return { ...answer, events: counted };
  };
  const target: CallTarget = new Proxy(server, {
    get(whole, name) {
      if (name === 'answerCall') return answerCall;
      const member: unknown = Reflect.get(whole, name);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
  const listener = createServer(nodeHandler(server));
  const endpoint = attachWebSocket(target, listener);
  onTestFinished(async () => {
    await Promise.all([server.close({ graceMs: 0 }), endpoint.close({ graceMs: 0 })]);
  });
  await listen(listener);
  return { server, url: endpoint.url!, signals, openEvents: () => events };
}

it.each<[string, (socket: RawSocket) => void]>([
  ['breaks off', ({ ws }) => ws.terminate()],
  ['closes', ({ ws }) => ws.close()],
])('a client that %s ends its streams and calls, and its tasks go on', async (_, leave) => {
  const { server, url, signals, openEvents } = await serveCounted();
  const socket = await rawSocket(url);
  const streams = [1, 2].map(() => socket.request('SendStreamingMessage', message('wait')));
  for (const id of streams) await socket.next(id);
  socket.request('SendMessage', message('wait'));
  await expect.poll(() => server.load.turns).toBe(3);
  expect([openEvents(), signals.length]).toEqual([2, 3]);
  leave(socket);
  await expect.poll(openEvents).toBe(0);
  await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  expect(server.load.turns).toBe(3);
});

it('the connections of a caller are forgotten with the last one, and not before', async () => {
  const { url } = await serve(
    { authenticate: () => ({ scope: 'ada' }) },
    { messagesPerSecond: 0.001, burst: 2 },
  );
  const send = async (socket: RawSocket) => socket.next(socket.request('ListTasks'));
  const [first, second] = [await rawSocket(url), await rawSocket(url)];
  await send(first);
  await send(first);
  first.ws.close();
  await first.closed;
  // The rate of the caller still counts what its other connections sent.
  const third = await rawSocket(url);
  third.request('ListTasks');
  expect(await third.closed).toBe(1008);
  second.ws.close();
  await second.closed;
  await expect
    .poll(async () => {
      const socket = await rawSocket(url);
      const answer = await Promise.race([send(socket), socket.closed]);
      socket.ws.close();
      return answer;
    })
    .toHaveProperty('result');
});
