import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** A server behind the proxy. */
interface Upstream {
  readonly name: string;
  readonly url: string;
}

/** Passes each request on to the next of `servers`; the answer's `x-served-by` names it. */
export async function startProxy() {
  const servers: Upstream[] = [];
  let turn = 0;

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const upstream = servers[turn++ % servers.length];
    if (!upstream) return void outgoing.writeHead(503).end();
    const { method, headers, url = '/' } = incoming;
    const onward = request(new URL(url, upstream.url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'x-served-by': upstream.name });
      outgoing.flushHeaders();
      pipeline(answer, outgoing, () => {});
    });
    onward.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()));
    // When a client closes its stream, the proxy closes the one to the server.
    outgoing.on('close', () => onward.destroy());
    pipeline(incoming, onward, () => {});
  }

  // Longer than clients keep a connection: a request on one that the proxy just closes would be lost.
  const proxy = createServer({ keepAliveTimeout: 75_000 }, pass).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, servers, proxy };
}
