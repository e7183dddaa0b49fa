import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { dropRest } from './drop-rest.ts';
import { endOfRound } from './end-of-round.ts';
import { keepAlive } from './node-server.ts';
import { pump } from './pump.ts';

/** The members of a request that an adapter adds. */
export interface Asked
  extends Pick<HttpExchange, 'readBody' | 'baseUrl' | 'hasForeignHost' | 'refusal' | 'remoteAddress'> {
  /** Path below the mount and query, as they were sent. */
  readonly target: string;
}

/** Answers a request. Rejects if that is impossible; the headers may have been sent by then. */
export async function answer(
  server: Pick<AgentServer, 'handle'>,
  req: IncomingMessage,
  res: ServerResponse,
  { target, readBody, ...asked }: Asked,
): Promise<void> {
  keepAlive(req.socket);
  const { status, headers, body } = await server.handle({
    ...asked,
    ...partsOf(target),
    readBody: async (limit, ask) => {
      const read = await readBody(limit, ask);
      await endOfRound();
      return read;
    },
    method: req.method ?? 'GET',
    headers: headersOf(req),
    signal: leavingOf(res),
  });
  // Node.js would take the unread rest of the body for the next request.
  if (status === 413) res.setHeader('connection', 'close');
  dropRest(req);
  if (typeof body === 'string') {
    await endOfRound();
    // Without a length, Node.js sends it in chunks, which costs client and server more than the rest of the reply.
    res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    return;
  }
  res.writeHead(status, headers);
  if (body === undefined) res.end();
  else pump(body, res);
}

/** Aborted when the client leaves. Kept outside the closure: everything the listener captures lives as long as the stream. */
function leavingOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) gone.abort(left);
  });
  return gone.signal;
}

/** The reason of every such abort. One for all: an abort without a reason would create an error with a stack. */
const left = new Error('The client left');

/** Not with a URL parser: it would resolve `..`, take `//name` for a host, and throw for some targets. */
function partsOf(target: string): Pick<HttpExchange, 'path' | 'query'> {
  const [, path = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  return { path, query: new URLSearchParams(query) };
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string | undefined> => {
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
};
