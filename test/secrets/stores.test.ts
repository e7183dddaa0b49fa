import { once } from 'node:events';
import { createServer as createHttp2 } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { reply } from '@batonjs/server';
import type { Scope, TaskStore } from '@batonjs/store';
import { etcdStore } from '@batonjs/store-etcd';
import { postgresStore } from '@batonjs/store-postgres';
import { redisStore } from '@batonjs/store-redis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';
import { type Canaries, canaries } from './canaries.ts';

/** A database that refuses each password, in the words of the real one. Resolves to its host and port. */
type Refusing = (secrets: Canaries) => Promise<string>;

/** Answers each piece of a connection. */
async function refusing(answer: (piece: Buffer, socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (piece: Buffer) => answer(piece, socket));
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return `127.0.0.1:${(listener.address() as { port: number }).port}`;
}

const redis: Refusing = (secrets) =>
  refusing((piece, socket) => {
    secrets.arrive(String(piece));
    socket.write('-WRONGPASS invalid username-password pair or user is disabled.\r\n');
  });

/** A message of PostgreSQL: its type, its length, and what it says. */
const message = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};

const postgres: Refusing = (secrets) =>
  refusing((piece, socket) => {
    secrets.arrive(String(piece));
    if (piece[0] !== 'p'.charCodeAt(0)) return socket.write(message('R', Buffer.from([0, 0, 0, 3])));
    const fields = ['SFATAL', 'C28P01', 'Mpassword authentication failed for user "baton"'].join('\0');
    return socket.end(message('E', Buffer.from(`${fields}\0\0`)));
  });

const etcd: Refusing = async (secrets) => {
  const listener = createHttp2().on('stream', async (stream) => {
    stream.on('error', () => {});
    // The store may give up before all of its message is here.
    const sent = await stream.toArray().catch(() => undefined);
    if (!sent || stream.destroyed) return;
    secrets.arrive(Buffer.concat(sent).toString());
    const refusal = 'etcdserver: authentication failed, invalid user ID or password';
    const headers = { 'content-type': 'application/grpc', 'grpc-status': '3', 'grpc-message': refusal };
    stream.respond(headers, { endStream: true });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => void listener.close());
  return `127.0.0.1:${(listener.address() as { port: number }).port}`;
};

const stores: readonly (readonly [
  name: string,
  refuse: Refusing,
  open: (host: string, user: string) => TaskStore,
])[] = [
  ['Redis', redis, (host, user) => redisStore({ url: `redis://${user}@${host}`, timeoutMs: 300 })],
  [
    'PostgreSQL',
    postgres,
    (host, user) => postgresStore(`postgres://${user}@${host}/tasks`, { timeoutMs: 300 }),
  ],
  ['etcd', etcd, (host, user) => etcdStore([`http://${user}@${host}`], { timeoutMs: 300 })],
];

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.unreachable('It has no store'),
    (error: unknown) => error,
  );

describe.each(stores)(
  'the password in the URL of %s leaves neither with errors nor in the log',
  (_, refuse, open) => {
    it.each([
      ['that refuses it', refuse],
      ['that is not there', async () => '127.0.0.1:1'],
    ])('of a database %s', async (_what, start) => {
      const secrets = canaries();
      const password = secrets.plant('the password');
      // A database that is not there is sent nothing.
      if (start !== refuse) secrets.arrive(password);
      const host = await start(secrets);
      const store = closedAfterTest(open(host, `baton:${encodeURIComponent(password)}`));
      const lines: unknown[] = [];
      const server = serve(() => reply('never'), {
        store,
        timeouts: { storeMs: 500 },
        logger: (...line) => void lines.push(line),
      });
      secrets.leave('the error of a call', await failureOf(store.readFacts('scope' as Scope, 'none', 0, 1)));
      const asked = rpc(server, 'SendMessage', { message: say('go') });
      secrets.leave('the answer of the server', await failureOf(asked));
      secrets.leave('the answer to readiness', await server.readiness());
      await eventually(() => expect(lines).not.toEqual([]));
      await server.close({ graceMs: 0 });
      secrets.leave('the log', lines);
      secrets.check();
    });

    it('of a URL that cannot be used', () => {
      const secrets = canaries();
      const password = secrets.plant('the password');
      secrets.arrive(password);
      for (const host of ['', 'a b', 'a:99999', '[']) {
        for (const written of [password, encodeURIComponent(password)])
          try {
            closedAfterTest(open(host, `baton:${written}`));
          } catch (error) {
            secrets.leave('the error', error);
          }
      }
      secrets.check();
    });
  },
);
