import type { Socket } from 'node:net';
import { connect } from '@batonjs/client';
import { append, artifact, completed, type Turn, type Updates } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { type WebSocketServerOptions, webSocketClient } from '../src/index.ts';
import { serve } from './agent.ts';
import { message, rawSocket } from './raw-socket.ts';
import { startProcess } from './served-process.ts';

const megabyte = 1_048_576;
/** What waits for one client: 1 MiB, and the frame that went beyond it, and a little of the protocol. */
const mostWaiting = 2 * megabyte + 65_536;

/** Says so much. */
async function* talker({ text }: Turn): Updates {
  const [chunks = 0, bytes = 0] = text.split(' ').map(Number);
  yield artifact('talk', 'begin');
  for (let n = 0; n < chunks; n++) yield append('talk', `${n} ${'x'.repeat(bytes)}`);
  yield completed();
}

/** An agent, and the server's ends of its connections. */
async function serveTalker(options: WebSocketServerOptions = {}, onCall: () => void = () => {}) {
  const authenticate = () => {
    onCall();
    return { scope: 'ada' };
  };
  const served = await serve({ agent: talker, authenticate, limits: { bytesPerTask: 1e9 } }, options);
  const sockets: Socket[] = [];
  served.listener.on('connection', (socket: Socket) => sockets.push(socket));
  return { ...served, sockets };
}

describe('a client that does not read', () => {
  it('costs no more than 1 MiB and a frame, with several streams; then it reads all of each [R-WS-34]', async () => {
    const { url, server, sockets } = await serveTalker();
    const socket = await rawSocket(url);
    const [connection] = sockets;
    const streams = [0, 1, 2].map(() => socket.request('SendStreamingMessage', message('24 1000000')));
    await Promise.all(streams.map((id) => socket.next(id)));
    socket.ws.pause();
    let most = 0;
    await expect
      .poll(
        () => {
          most = Math.max(most, connection!.writableLength);
          return server.load.turns;
        },
        { interval: 1, timeout: 50_000 },
      )
      .toBe(0);
    expect(most).toBeGreaterThan(megabyte);
    expect(most).toBeLessThan(mostWaiting);
    socket.ws.resume();
    for (const id of streams) {
      const text = (await socket.all(id))
        .map(({ result }) => result?.artifactUpdate?.artifact.parts[0].text.split(' ')[0])
        .filter(Boolean);
      expect(text).toEqual(['begin', ...Array.from({ length: 24 }, (_, n) => String(n))]);
    }
  });

  it('and asks for more is not read either [R-WS-34]', async () => {
    const { url, sockets } = await serveTalker();
    const socket = await rawSocket(url);
    const [connection] = sockets;
    const { result } = await socket.next(socket.request('SendMessage', message('4 250000')));
    const { id } = result.task;
    socket.ws.pause();
    const asked = Array.from({ length: 100 }, () => socket.request('GetTask', { id }));
    await expect.poll(() => connection!.writableLength).toBeGreaterThan(megabyte);
    for (let turns = 0; turns < 50; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      expect(connection!.writableLength).toBeLessThan(mostWaiting);
    }
    socket.ws.resume();
    for (const request of asked) expect((await socket.next(request)).result.id).toBe(id);
  });

  it('and sends what is wrong fills no memory with refusals [R-WS-34]', async () => {
    const { url, sockets } = await serveTalker({ burst: 1_000_000 });
    const socket = await rawSocket(url);
    const [connection] = sockets;
    socket.ws.pause();
    const wrong = Array.from({ length: 40_000 }, () => '{"id":"x","method":1,"jsonrpc":1,"cancelStream":1}');
    for (const frame of wrong) socket.send(frame);
    await expect.poll(() => connection!.isPaused(), { interval: 1 }).toBe(true);
    expect(connection!.writableLength).toBeGreaterThan(megabyte);
    expect(connection!.writableLength).toBeLessThan(mostWaiting);
    socket.ws.resume();
    for (const _ of wrong) expect((await socket.next('x')).error.code).toBe(-32_600);
  });

  it('does not hold up another client', async () => {
    const { url } = await serveTalker();
    const [slow, other] = await Promise.all([rawSocket(url), rawSocket(url)]);
    const { result } = await slow.next(slow.request('SendStreamingMessage', message('40 200000')));
    slow.ws.pause();
    const { id } = result.task;
    const following = other.request('SubscribeToTask', { id });
    const first = await other.next(following);
    if (!first.error) expect(JSON.stringify(await other.all(following))).toContain('TASK_STATE_COMPLETED');
    slow.ws.resume();
  });
});

describe('a reader of the client that is slow', () => {
  it('gets every event once, though only some wait in memory', async () => {
    let calls = 0;
    const served = await serveTalker({}, () => {
      calls += 1;
    });
    const binding = webSocketClient();
    const agent = await connect(served.origin, { bindings: [binding], retry: { firstMs: 1, longestMs: 1 } });
    const heard = () => served.sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    const texts: string[] = [];
    let isFirst = true;
    for await (const { artifactUpdate } of agent.stream('30 1000000')) {
      // The client says that it leaves the stream.
      if (isFirst) await expect.poll(heard, { timeout: 30_000 }).toBeGreaterThan(heard());
      isFirst = false;
      const part = artifactUpdate?.artifact.parts[0];
      if (part && 'text' in part) texts.push(String(part.text).split(' ')[0]!);
    }
    expect(texts).toEqual(['begin', ...Array.from({ length: 30 }, (_, n) => String(n))]);
    // The upgrade, the send, and every time that the stream was resumed.
    expect(calls).toBeGreaterThan(2);
    binding.close();
  });
});

describe('1,000 streams', () => {
  const streams = 1_000;

  it('on eight connections get every event, and each costs a few kilobytes', async () => {
    const server = await startProcess();
    const url = `ws://127.0.0.1:${server.port}/ws`;
    const sockets = await Promise.all(Array.from({ length: 8 }, () => rawSocket(url)));
    const [first] = sockets;
    const { result } = await first!.next(
      first!.request('SendMessage', { ...message('hold'), configuration: { returnImmediately: true } }),
    );
    const { id } = result.task;
    const follow = (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, number) => {
          const socket = sockets[number % sockets.length]!;
          const stream = socket.request('SubscribeToTask', { id });
          await socket.next(stream);
          return { socket, stream };
        }),
      );
    // What all streams share is there, and the code is warm.
    for (const { socket, stream } of await follow(100)) {
      socket.send({ id: stream, cancelStream: true });
      await socket.next(
        ({ id: of, streamEnd }: { id?: unknown; streamEnd?: true }) => of === stream && streamEnd,
      );
    }
    const before = await server.memory();
    const open = await follow(streams);
    const bytes = Math.round(((await server.memory()) - before) / streams);
    expect(bytes).toBeLessThan(16_384);
    await first!.next(first!.request('CancelTask', { id }));
    const ends = await Promise.all(open.map(({ socket, stream }) => socket.all(stream)));
    for (const frames of ends) {
      expect(JSON.stringify(frames)).toContain('TASK_STATE_CANCELED');
      expect(frames.at(-1).streamEnd).toBe(true);
    }
  });
});
