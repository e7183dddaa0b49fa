import { connect as openSocket, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../../../test/kit/http/exchange.ts';
import { rpcBody, usual } from '../../../../../test/kit/http/known-tasks.ts';
import { type Mount, mounts } from '../../../../../test/kit/http/mounts.ts';
import { said } from '../../../../../test/kit/http/wrong-sends.ts';
import { listen } from '../../../../../test/kit/listen.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type AgentServerOptions, reply } from '../../../src/index.ts';

/** A request that is refused before its body is read to the end. */
interface Refused {
  readonly status: number;
  readonly options?: Partial<AgentServerOptions>;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const authenticate = () => undefined;
const limited = {
  limits: { callers: { requests: { limit: 1, perMs: 3_600_000 }, callerOf: () => 'anyone' } },
};
const refusals: readonly Refused[] = [
  { status: 401, options: { authenticate } },
  { status: 403, headers: { host: 'evil.example' } },
  { status: 404, path: '/elsewhere' },
  { status: 413 },
  { status: 415, headers: { 'content-encoding': 'gzip' } },
  { status: 429, options: limited },
];

const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;

/** Sends a body that never ends. Resolves to the status of the answer when the server has ended the connection. */
async function endlessly(socket: Socket, head: string): Promise<number> {
  let received = '';
  socket.setEncoding('latin1').on('data', (text) => {
    received += text;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  // Of a connection that the server broke.
  socket.on('error', () => {});
  socket.write(head);
  while (socket.writable) {
    if (socket.write(chunk)) continue;
    await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  await closed;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1]);
}

describe.each(mounts)('a body without an end, by %s', (name, mount: Mount) => {
  // Other frameworks answer what is beside the mount.
  const own = refusals.filter(({ path }) => path === undefined || name === 'node:http');
  it.each(own)('that is refused with $status is not read forever', async (refused) => {
    const { status, options = {}, path = '/agent', headers = {} } = refused;
    const server = serve(() => reply('done'), options);
    const origin = await listen(await mount(server, { path: '/agent' }));
    const body = rpcBody('SendMessage', { message: said() });
    if (status === 429) await exchange(origin, { method: 'POST', path, headers: usual, body });
    const socket = openSocket(Number(new URL(origin).port), '127.0.0.1');
    const all = { ...usual, host: 'localhost', 'transfer-encoding': 'chunked', ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const seen = await endlessly(socket, `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    // A client that goes on sending what is too large may find its connection broken before it reads the answer.
    expect(status === 413 ? [status, Number.NaN] : [status]).toContainEqual(seen);
  });

  it('leaves the connection to the next request if it is short', async () => {
    const server = serve(() => reply('done'), { authenticate });
    const origin = await listen(await mount(server, { path: '/agent' }));
    const socket = openSocket(Number(new URL(origin).port), '127.0.0.1');
    const lines = Object.entries({ ...usual, host: 'localhost', 'content-length': '200000' });
    const head = `POST /agent HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
    let received = '';
    const answers = () => received.match(/HTTP\/1\.1 401/g)?.length ?? 0;
    const second = Promise.withResolvers<void>();
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
      if (answers() === 2) second.resolve();
    });
    for (let n = 0; n < 2; n++) socket.write(head + 'x'.repeat(200_000));
    await second.promise;
    socket.destroy();
  });
});
