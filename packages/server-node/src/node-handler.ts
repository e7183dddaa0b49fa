import type { IncomingMessage, RequestListener } from 'node:http';
import type { AgentServer } from '@batonjs/server';
import {
  forwardedScheme,
  mustHandle,
  mustKnowOptions,
  type OptionsOf,
  withDefaults,
} from '@batonjs/server/adapter';
import { answer } from './answer.ts';
import { dropRest } from './drop-rest.ts';
import { readIncomingBody } from './incoming-body.ts';
import { mountOf } from './mount-of.ts';

/** The options of a handler, with their defaults. */
export const handlerOptions = {
  /** The path at which the agent is mounted, such as `/agents/echo`. Default `/`. Requests for other paths get a 404. */
  path: '/',
  /**
   * Whether the card names the host of the header `Host`, with the scheme of `X-Forwarded-Proto`, for every sender. Only for
   * a server behind a proxy that sets both: otherwise clients choose them, and a card may be cached. Default false. Not
   * needed with `publicUrl`.
   */
  trustHost: false,
};

/** Where a handler serves an agent. */
export type NodeHandlerOptions = OptionsOf<typeof handlerOptions>;

/**
 * Serves an agent from a server of `node:http` or `node:https`: `createServer(nodeHandler(server))`. The agent's card has
 * the address of the request only for a request from this machine to this machine. Otherwise give the server its
 * `publicUrl`. Throws a `TypeError` for an option that it does not have, and for a server without `handle`.
 */
export function nodeHandler(
  server: Pick<AgentServer, 'handle'>,
  options: NodeHandlerOptions = {},
): RequestListener {
  mustKnowOptions(options, handlerOptions);
  mustHandle(server, 'nodeHandler');
  const { path, trustHost } = withDefaults(handlerOptions, options);
  const mount = path.replace(/(?<!\/)\/+$/, '');
  const schemeOf = ({ headers, socket }: IncomingMessage): string => {
    const scheme = trustHost && forwardedScheme(String(headers['x-forwarded-proto']));
    // Every socket of Bun has the member.
    return scheme || ('encrypted' in socket && socket.encrypted ? 'https' : 'http');
  };
  return (req, res) => {
    const target = targetOf(req, mount);
    if (target === undefined) {
      dropRest(req);
      return void res.writeHead(404).end();
    }
    const asked = {
      target,
      readBody: (limit: number) => readIncomingBody(req, limit),
      remoteAddress: req.socket.remoteAddress,
      ...mountOf(req.socket, {
        protocol: schemeOf(req),
        host: req.headers.host,
        path: mount,
        trusted: trustHost,
      }),
    };
    answer(server, req, res, asked).catch((error: unknown) => {
      console.error('[baton] A request could not be answered', error);
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    });
  };
}

/** Path below the mount, with the query. Undefined for a request outside the mount. Proxies receive whole URLs. */
function targetOf({ url = '/' }: IncomingMessage, mount: string): string | undefined {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (!target.startsWith(mount)) return undefined;
  const below = target.slice(mount.length);
  return below === '' || /^[/?#]/.test(below) ? below : undefined;
}
