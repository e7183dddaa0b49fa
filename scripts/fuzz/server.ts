/** The server that is asked: one agent on one store behind Express, and what a process can say about itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { attachWebSocket } from '@batonjs/bindings-websocket';
import {
  A2AError,
  type Agent,
  append,
  artifact,
  authRequired,
  completed,
  createAgentServer,
  data,
  failed,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  working,
} from '@batonjs/server';
import { a2aExpress } from '@batonjs/server-express';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import express from 'express';
import { scopeOf } from '../../test/kit/scope.ts';
import { readLogs } from '../workload/verdict.ts';
import { limits } from './limits.ts';

/** What a server says when it is asked to rest. */
export interface Rested {
  readonly heapBytes: number;
  /** What went wrong inside since it was asked last. */
  readonly trouble: readonly string[];
}

/** Where a server listens: for requests, behind a body parser, for gRPC, and for WebSockets. */
export interface Listening {
  readonly port: number;
  readonly parsedPort: number;
  readonly grpcPort: number;
  readonly socketPort: number;
  readonly webhook: string;
  /** What must not be connected to. */
  readonly forbiddenPort: number;
}

const totalMs = 1_500;
const folder = mkdtempSync(join(tmpdir(), 'baton-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.on('disconnect', () => process.exit());

const trouble: string[] = [];
process.on('unhandledRejection', (error) => trouble.push(`Unhandled rejection: ${inspect(error)}`));
process.on('uncaughtException', (error) => trouble.push(`Uncaught exception: ${inspect(error)}`));

/** Does what the text says. */
const agent: Agent = (turn: Turn) => {
  if (turn.text === 'message' && !turn.task) return reply('As you say');
  return (async function* (): AsyncGenerator<TaskUpdate> {
    yield working();
    if (turn.text === 'ask') {
      yield inputRequired('Well?');
      return;
    }
    if (turn.text === 'auth') yield authRequired('Who are you?');
    if (turn.text === 'fail') {
      yield failed('It did not work');
      return;
    }
    if (turn.text === 'hold') await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
    yield artifact('said', turn.text || 'nothing', data(turn.values));
    if (turn.text === 'chunks') for (const chunk of ['a', 'b', 'c']) yield append('said', chunk);
    yield completed();
  })();
};

const store =
  process.argv[2] === 'sqlite'
    ? sqliteStore(join(folder, 'tasks.db'), { durability: 'normal' })
    : memoryStore();
const listen = (listener: RequestListener) =>
  new Promise<number>((resolve) => {
    const http = createServer(listener).listen(0, '127.0.0.1', () =>
      resolve((http.address() as AddressInfo).port),
    );
  });
const hook = await listen((request, response) => request.resume().on('end', () => response.end()));
const forbiddenPort = await new Promise<number>((resolve) => {
  const forbidden = createServer().on('connection', (socket) => {
    trouble.push('A webhook was delivered to an address that is not allowed');
    socket.destroy();
  });
  forbidden.listen(0, () => resolve((forbidden.address() as AddressInfo).port));
});
const server = createAgentServer({
  card: {
    name: 'Fuzz',
    description: 'Is asked anything',
    capabilities: { extensions: [{ uri: 'https://fuzz.example/extension' }] },
    extended: { description: 'Is asked anything by anybody' },
  },
  agent,
  store,
  authenticate: ({ headers }) => (headers.authorization === 'wrong' ? undefined : { scope: 'anybody' }),
  cors: true,
  timeouts: {
    blockingMs: 100,
    cancelMs: 100,
    cancelGraceMs: 50,
    taskMs: totalMs,
    interruptedMs: totalMs / 2,
  },
  messages: { idempotency: true },
  limits,
  // Only the webhook of this process can be reached, also by URLs that a mutation made up.
  push: { allow: [`127.0.0.1:${hook}`], ports: [], resolve: () => Promise.reject(new Error('No DNS here')) },
  logger: (level, message, details) => {
    // An agent fails if its task becomes full while it works.
    if (level !== 'error' || A2AError.is(details.err, 'RESOURCE_EXHAUSTED')) return;
    trouble.push(`${message}: ${inspect(details)}`);
  },
});

const grpc = await listenGrpc(server, { port: 0 });
const listening: Listening = {
  port: await listen(express().use(a2aExpress(server))),
  parsedPort: await listen(express().use(express.json({ type: ['json', '+json'] }), a2aExpress(server))),
  grpcPort: grpc.port,
  socketPort: await listenForSockets(),
  forbiddenPort,
  webhook: `http://127.0.0.1:${hook}/hook`,
};
process.on('message', async (order) => {
  if (order === 'rest') process.send?.(await rest());
  if (order === 'close') {
    process.send?.('closing');
    await server.close({ graceMs: 2_000 });
    process.send?.({ heapBytes: 0, trouble: trouble.splice(0) } satisfies Rested);
  }
});
process.send?.(listening);

/** Serves the agent over WebSocket on a port of its own. */
async function listenForSockets(): Promise<number> {
  const http = createServer();
  attachWebSocket(server, http, { burst: 1e9 });
  return new Promise((resolve) => {
    http.listen(0, '127.0.0.1', () => resolve((http.address() as AddressInfo).port));
  });
}

/** Lets every task come to its end, forgets all of them, and collects garbage. */
async function rest(): Promise<Rested> {
  await sleep(totalMs + 1_500);
  const { FUZZ_LOGS: file } = process.env;
  if (file) await writeFile(file, JSON.stringify(await readLogs(store, [scopeOf('agent', '', 'anybody')])));
  while ((await server.prune({ closedBefore: Date.now() + 1_000 })) > 0);
  globalThis.gc?.();
  await sleep(20);
  globalThis.gc?.();
  return { heapBytes: process.memoryUsage().heapUsed, trouble: trouble.splice(0) };
}
