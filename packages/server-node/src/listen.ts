import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentServer } from '@batonjs/server';
import { keepAliveMs, mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/server/adapter';
import { handlerOptions, nodeHandler } from './node-handler.ts';

const listenOptions = {
  ...handlerOptions,
  /** 0, the default, takes any free port. */
  port: 0,
  /** `127.0.0.1` by default: this machine only. Elsewhere give the server its `publicUrl`. */
  host: '127.0.0.1',
  /** Connections at a time; more are closed at once. Default 10,000. */
  connections: 10_000,
  /** How long a request may take to arrive, in milliseconds; then it is answered 408. Its headers: a quarter. Default 60,000. */
  requestMs: 60_000,
};

/** Where `listen` serves an agent. */
export type ListenOptions = OptionsOf<typeof listenOptions>;

/** An agent that is being served. */
export interface Listening {
  /** Where this machine reaches it. */
  readonly url: string;
  /**
   * Accepts no more requests, waits up to `graceMs` milliseconds (default 10,000) for running turns, answers waiting clients
   * and frees the port. The store stays open. A second call waits for the first.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** How long the last answers may take to be sent, in milliseconds. */
const flushMs = 1_000;

/** How long a start waits for the store to say whose tasks it has, in milliseconds. */
const storeMs = 2_000;

/**
 * Serves one agent on a port of its own. Rejects with the `code` of Node.js (`EADDRINUSE`) if the port is not available, and
 * with a `TypeError` for an option that it does not have. Rejects, before it listens, if the store is one of another release
 * or says that the tasks of the `name` are those of another agent. A store that is away for a moment is no reason: requests are
 * answered 503 until it is back.
 */
export async function listen(
  server: Pick<AgentServer, 'handle' | 'close'> & Partial<Pick<AgentServer, 'readiness'>>,
  options: ListenOptions = {},
): Promise<Listening> {
  mustKnowOptions(options, listenOptions);
  const complete = withDefaults(listenOptions, options);
  const { port, host, path, trustHost, connections, requestMs } = complete;
  // Not imported: that would load all of `node:http`, fetch and WebSocket included, and take longer than everything else.
  const { createServer } = process.getBuiltinModule('node:http');
  const timeouts = {
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMs,
    headersTimeout: requestMs / 4,
    connectionsCheckingInterval: Math.min(5_000, requestMs / 4),
  };
  await mustBeUsable(server);
  const listener = createServer(timeouts, nodeHandler(server, { path, trustHost }));
  listener.maxConnections = connections;
  listener.listen(port, host);
  await once(listener, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? inUse(host, port) : error;
  });
  const address = listener.address() as AddressInfo;
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${name}:${address.port}${path.replace(/(?<!\/)\/+$/, '')}`,
    close(options) {
      closed ??= (async () => {
        // The port stays open meanwhile: waiting clients get their answers.
        await server.close(options);
        const ended = once(listener, 'close');
        listener.close();
        const flushing = setTimeout(() => listener.closeAllConnections(), flushMs);
        await ended;
        clearTimeout(flushing);
      })();
      return closed;
    },
  };
}

function inUse(host: string, port: number): NodeJS.ErrnoException {
  const name = host.includes(':') ? `[${host}]` : host;
  const remedy = 'end it, or choose another port with `listen(server, { port })`; 0 takes a free one';
  const error = sentence(`Another program listens on ${name}:${port}: ${remedy}`);
  return Object.assign(error, { code: 'EADDRINUSE' });
}

/** An agent that must not touch the tasks of its store answers nothing: its program would seem to run. */
async function mustBeUsable({ readiness }: Partial<Pick<AgentServer, 'readiness'>>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), storeMs);
  });
  const state = await Promise.race([readiness?.(), waited]).finally(() => clearTimeout(timer));
  if (state?.isReady === false && state.reason === 'refused') throw sentence(state.message);
}

/** Without a stack and a cause: a program that does not catch it prints the sentence alone. */
function sentence(message: string): Error {
  const error = new Error(message);
  error.stack = String(error);
  return error;
}

/** The options of `listenProbes`, with their defaults. */
const probesOptions = {
  /** 0, the default, takes any free port. Not the port of the agent: clients reach that one. */
  port: 0,
  /** `127.0.0.1` by default: this machine only. In a container `0.0.0.0`. */
  host: '127.0.0.1',
  /** What answers `GET /metrics`: `metricsHandler` of `@batonjs/telemetry`. Default: 404. */
  metrics: undefined as
    | { readonly node: (request: IncomingMessage, response: ServerResponse) => unknown }
    | undefined,
};

/** Where `listenProbes` answers. */
export type ProbesOptions = OptionsOf<typeof probesOptions>;

/** Probes that are being answered. */
export interface ListeningProbes {
  /** Where this machine reaches them. */
  readonly url: string;
  /** Frees the port. Call it last: an orchestrator is told that a process drains by `/readyz`. */
  close(): Promise<void>;
}

/**
 * Answers the probes of an orchestrator, on a port of its own, for a server or a worker. `GET /livez` is 200 as long as the
 * event loop runs, and asks nothing. `GET /startupz` is 200 once the process has been ready, for good. `GET /readyz` is 503
 * with the reason while it closes, or its store takes no writes. Rejects if the port is not available, and with a
 * `TypeError` for an option that it does not have.
 */
export async function listenProbes(
  process: Pick<AgentServer, 'readiness'>,
  options: ProbesOptions = {},
): Promise<ListeningProbes> {
  mustKnowOptions(options, probesOptions);
  const { port, host, metrics } = withDefaults(probesOptions, options);
  let hasStarted = false;

  async function isReady(): Promise<readonly [status: number, text: string]> {
    const readiness = await process.readiness();
    hasStarted ||= readiness.isReady;
    // The message may name files and hosts.
    return readiness.isReady ? [200, 'ready'] : [503, readiness.reason];
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path] = (request.url ?? '').split('?', 1);
    if (path === '/metrics' && metrics) return void (await metrics.node(request, response));
    const [status, text] = await probe(path);
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
    response.end(`${text}\n`);
  }

  async function probe(path: string | undefined): Promise<readonly [status: number, text: string]> {
    if (path === '/livez') return [200, 'alive'];
    if (path === '/readyz') return isReady();
    if (path !== '/startupz') return [404, 'not found'];
    return hasStarted ? [200, 'started'] : isReady();
  }

  const { createServer } = globalThis.process.getBuiltinModule('node:http');
  const listener = createServer(
    { requestTimeout: 10_000, keepAliveTimeout: keepAliveMs },
    (request, response) => {
      request.resume();
      answer(request, response).catch(() => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
    },
  );
  listener.maxConnections = 100;
  listener.listen(port, host);
  await once(listener, 'listening');
  const { port: taken } = listener.address() as AddressInfo;
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  let closed: Promise<unknown> | undefined;
  return {
    url: `http://${name}:${taken}`,
    async close() {
      closed ??= once(listener, 'close');
      listener.close();
      listener.closeAllConnections();
      await closed;
    },
  };
}
