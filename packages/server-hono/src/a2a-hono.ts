import type { ServerResponse } from 'node:http';
import { A2AError } from '@batonjs/protocol/errors';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { answerRequest, forwardedScheme, mustHandle, webMountOf } from '@batonjs/server/adapter';
import { endWithServer, keepAlive, mountOf, splitTarget } from '@batonjs/server-node/adapter';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { baseRoutePath } from 'hono/route';

/** How an app of Hono serves an agent. */
export interface A2AHonoOptions {
  /**
   * Whether the card names the host of the header `Host`, with the scheme of `X-Forwarded-Proto`, for every sender. Only for
   * a server behind a proxy that sets both: otherwise clients choose them, and a card may be cached. Default false. Not
   * needed with `publicUrl`.
   */
  readonly trustHost?: boolean | undefined;
  /** Middleware in front of the agent. Every `A2AError` that it throws is answered as an error of the protocol. */
  readonly use?: readonly MiddlewareHandler[] | undefined;
}

/**
 * Serves an agent from an app of Hono 4, on any of its runtimes: `app.route('/agent', a2aHono(server))`. The agent's card has
 * the address of the request only for a request from this machine to this machine. Otherwise give the server its
 * `publicUrl`.
 */
export function a2aHono(
  server: Pick<AgentServer, 'handle'>,
  { trustHost = false, use = [] }: A2AHonoOptions = {},
): Hono {
  mustHandle(server, 'a2aHono');
  const serve = async (c: Context, refusal?: A2AError): Promise<Response> => {
    const { incoming, outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
    if (incoming?.socket) keepAlive(incoming.socket);
    const url = new URL(c.req.url);
    const { mount: path, below } = splitTarget(url.pathname, baseRoutePath(c));
    const response = await answerRequest(server, c.req.raw, {
      path: below,
      ...(incoming?.socket
        ? mountOf(incoming.socket, {
            protocol:
              (trustHost && forwardedScheme(c.req.header('x-forwarded-proto'))) || url.protocol.slice(0, -1),
            host: c.req.header('host'),
            path,
            trusted: trustHost,
          })
        : webMountOf(c.req.raw, { path, trusted: trustHost })),
      remoteAddress: incoming?.socket?.remoteAddress,
      ...(c.req.raw.bodyUsed && { readBody: (limit: number) => readAgain(c, limit) }),
      refusal,
    });
    if (outgoing?.socket && response.headers.get('content-type') === 'text/event-stream')
      endWithServer(outgoing as ServerResponse);
    // Node.js would take the unread rest of the body for the next request.
    if (incoming && response.status === 413) response.headers.set('connection', 'close');
    return response;
  };
  const app = new Hono();
  for (const middleware of use) app.use(middleware);
  app.all('*', (c) => serve(c));
  app.onError((error, c) => {
    if (A2AError.is(error)) return serve(c, error);
    throw error;
  });
  return app;
}

/** The body that a middleware has read already, from Hono's copy. */
async function readAgain(c: Context, limit: number): ReturnType<HttpExchange['readBody']> {
  const bytes = new Uint8Array(await c.req.arrayBuffer());
  return bytes.byteLength > limit ? undefined : { bytes };
}
