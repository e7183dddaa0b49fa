import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type Settings } from 'node:http2';
import type { AgentServerOptions } from '@batonjs/server';
import { status } from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ListenGrpcOptions, listenGrpc } from '../src/index.ts';
import { serve } from './agent.ts';
import { message, rawClient } from './raw-client.ts';

/** A connection of bare HTTP/2 to an agent. */
async function open(options: Partial<ListenGrpcOptions> = {}, agent: Partial<AgentServerOptions> = {}) {
  const { server } = await serve(agent);
  const listener = await listenGrpc(server, { port: 0, ...options });
  onTestFinished(() => listener.close({ graceMs: 0 }));
  const session = connect(`http://${listener.address}`);
  onTestFinished(() => session.destroy());
  return { session, address: listener.address! };
}

const send = '/lf.a2a.v1.A2AService/SendMessage';

/** Begins a request with the header of a message of `announced` bytes, and the first `sent` of them. */
function begin(session: ClientHttp2Session, announced: number, sent: number, path = send) {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'a2a-version': '1.0',
  });
  const answer = { status: undefined as number | undefined, isClosed: false, message: '' };
  for (const event of ['response', 'trailers'])
    stream.on(event, (headers) => {
      if (headers['grpc-status'] === undefined) return;
      answer.status = Number(headers['grpc-status']);
      answer.message = decodeURIComponent(String(headers['grpc-message'] ?? ''));
    });
  stream.on('error', () => {});
  stream.on('close', () => {
    answer.isClosed = true;
  });
  stream.resume();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(announced, 1);
  stream.write(Buffer.concat([prefix, Buffer.alloc(sent)]));
  return { stream, answer };
}

describe('requests that do not arrive as a whole', () => {
  it('hold four of the longest messages on one connection; the others are refused and closed', async () => {
    const bodyBytes = 65_536;
    const { session, address } = await open({}, { limits: { bodyBytes } });
    const begun = Array.from({ length: 20 }, () => begin(session, bodyBytes, bodyBytes - 1));
    const refused = () => begun.filter(({ answer }) => answer.isClosed);
    // Their bytes arrive in turns, so that fewer than four may be left.
    await vi.waitFor(() => expect(refused().length).toBeGreaterThanOrEqual(16));
    expect(refused().length).toBeLessThan(begun.length);
    for (const { answer } of refused()) expect(answer.status).toBe(status.RESOURCE_EXHAUSTED);
    // Another connection has bytes of its own, and those that were refused are given back.
    expect((await rawClient(address).call('SendMessage', message('1'))).result).toHaveProperty('task');
    for (const { stream } of begun) stream.close(constants.NGHTTP2_CANCEL);
    const small = begin(session, 10, 10);
    small.stream.end();
    await vi.waitFor(() => expect(small.answer.status).toBe(status.INVALID_ARGUMENT));
  });

  it('are refused after `requestMs`, though each byte keeps coming', async () => {
    const { session } = await open({ requestMs: 50 });
    const { stream, answer } = begin(session, 1_000_000, 1);
    const dripping = setInterval(() => stream.writable && stream.write('x'), 10);
    onTestFinished(() => clearInterval(dripping));
    const message = 'The request took longer than 50 ms to arrive';
    await vi.waitFor(() =>
      expect(answer).toEqual({ status: status.DEADLINE_EXCEEDED, isClosed: true, message }),
    );
  });

  it('do not count once the caller is known: a stream may last, and a message may wait for its task', async () => {
    const bodyBytes = 4_096;
    const { address } = await open({ requestMs: 50 }, { limits: { bodyBytes } });
    const { stream } = rawClient(address);
    const streams = Array.from({ length: 10 }, () =>
      stream('SendStreamingMessage', message('wait'.padEnd(2_000))),
    );
    const waiting = Array.from({ length: 10 }, () => stream('SendStreamingMessage', message('wait')));
    for (const each of [...streams, ...waiting]) {
      each.on('error', () => {});
      await once(each, 'data');
      each.cancel();
    }
  });
});

describe('a connection', () => {
  it('is offered 1,000 streams at a time', async () => {
    const { session } = await open();
    const [settings] = (await once(session, 'remoteSettings')) as [Settings];
    expect(settings.maxConcurrentStreams).toBe(1_000);
  });
});
