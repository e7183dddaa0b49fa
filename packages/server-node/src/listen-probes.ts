import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentServer } from '@batonjs/server';
import { keepAliveMs, mustKnowOptions, type OptionsOf, withDefaults } from '@batonjs/server/adapter';

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
