import type { IncomingMessage, RequestListener } from 'node:http';
import type { AgentServer } from '@batonjs/server';
import { answer } from './answer.ts';
import { readBody } from './incoming-body.ts';
import { mountUrlOf } from './mount-url.ts';

export interface NodeHandlerOptions {
  /** The path the agent is mounted at, such as `/agents/echo`; `/` by default. Other paths are answered with 404. */
  readonly path?: string;
  /**
   * Whether the card names the host of the header `Host`, for every sender. Only for a server behind a proxy that
   * sets this header: clients choose it otherwise, and a card may be cached. Default false. `publicUrl` needs no trust.
   */
  readonly trustHost?: boolean;
}

/**
 * Serves an agent from a server of `node:http` or `node:https`: `createServer(nodeHandler(server))`. The agent's card names
 * the address of the request only if it comes from this machine and names it; otherwise give the server its `publicUrl`.
 */
export function nodeHandler(
  server: Pick<AgentServer, 'handle'>,
  { path = '/', trustHost = false }: NodeHandlerOptions = {},
): RequestListener {
  const mount = path.replace(/(?<!\/)\/+$/, '');
  return (req, res) => {
    const target = targetOf(req, mount);
    if (target === undefined) return void res.writeHead(404).end();
    const asked = {
      target,
      readBody: (limit: number) => readBody(req, limit),
      baseUrl: mountUrlOf(req.socket, {
        protocol: 'encrypted' in req.socket ? 'https' : 'http',
        host: req.headers.host,
        path: mount,
        trusted: trustHost,
      }),
    };
    answer(server, req, res, asked).catch(() => {
      if (res.headersSent) res.destroy();
      else res.writeHead(500).end();
    });
  };
}

/** Path below the mount and query; undefined if the request is for something else. A proxy may be sent a whole URL. */
function targetOf({ url = '/' }: IncomingMessage, mount: string): string | undefined {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '');
  if (!target.startsWith(mount)) return undefined;
  const below = target.slice(mount.length);
  return below === '' || /^[/?#]/.test(below) ? below : undefined;
}
