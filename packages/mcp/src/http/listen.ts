import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepAliveMs } from '@batonjs/server/adapter';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import type { McpHandler } from './mcp-handler.ts';

/** Where `listenMcp` listens, and the host names that requests may have besides those of this machine. */
export interface McpAddress {
  readonly port: number;
  readonly host: string;
  readonly allowedHosts: readonly string[];
}

/**
 * Listens at `/mcp` with `node:http`. Requests with another `Host` or `Origin` are refused: a web page could otherwise
 * reach the server under a name of its own. Resolves to the URL and a function that ends it.
 */
export async function listen(
  handler: Pick<McpHandler, 'fetch' | 'close'>,
  { port, host, allowedHosts }: McpAddress,
): Promise<{ url: string; close(): Promise<void> }> {
  const allowed = [...localhostAllowedHostnames(), ...allowedHosts];
  const answer = async (request: Request): Promise<Response> => {
    const refusal =
      hostHeaderValidationResponse(request, allowed) ?? originValidationResponse(request, allowed);
    if (refusal) return refusal;
    if (new URL(request.url).pathname !== '/mcp') return new Response('Not found', { status: 404 });
    return handler.fetch(request);
  };
  const server = createServer({ keepAliveTimeout: keepAliveMs }, toNodeHandler({ fetch: answer }));
  server.listen(port, host);
  await once(server, 'listening');
  const { port: bound } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${bound}/mcp`,
    async close() {
      server.close();
      await handler.close();
      server.closeAllConnections();
    },
  };
}
