import type { IncomingMessage, RequestListener } from 'node:http';
import type { Readable } from 'node:stream';
import type { AgentServer, Body } from '@batonjs/server';
import {
  forwardedScheme,
  mustHandle,
  mustKnowOptions,
  type OptionsOf,
  withDefaults,
} from '@batonjs/server/adapter';
import { answer, dropRest, mountOf } from './answer.ts';

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

/** Whether this is the `{}` that Express 4 has for a body that no parser has read. */
const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && Object.keys(body).length === 0;

/** A request whose body a parser may have read and left as a value, or the stream that took its place. */
export type Parsed = Readable & Pick<IncomingMessage, 'headers'> & { readonly body?: unknown };

/**
 * The body of a request. Undefined if it is larger than `limit` bytes; the rest is not read. Rejects if the client leaves
 * before its end.
 */
export function readIncomingBody(req: Parsed, limit: number): Promise<Body | undefined> {
  const { body } = req;
  if (req.readableEnded || req.readableDidRead || (body !== undefined && !isEmpty(body))) {
    if (typeof body === 'string') return Promise.resolve({ bytes: Buffer.from(body) });
    return Promise.resolve(Buffer.isBuffer(body) ? { bytes: body } : { value: body });
  }
  const encoding = req.headers['content-encoding']?.trim() ?? '';
  if (!/^(identity)?$/i.test(encoding)) return Promise.resolve({ encoding: encoding.slice(0, 40) });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      // Not destroyed: the connection still has to carry the answer.
      req.off('data', onData);
      req.pause();
      resolve(undefined);
    };
    const onEnd = () => {
      // The request of a stream lives as long as the stream, and so does everything that its listeners capture.
      req.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
      resolve({ bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) });
    };
    const onClose = () => reject(new Error('The client left'));
    req.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}
