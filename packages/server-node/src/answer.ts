import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { endOfTurn } from './end-of-turn.ts';
import { pump } from './pump.ts';

/** A request as an adapter describes it. */
export interface Asked extends Pick<HttpExchange, 'readBody' | 'baseUrl' | 'refusal'> {
  /** Path below the mount and query, as they were sent. */
  readonly target: string;
}

/** Answers a request. Rejects if that is impossible; then the head may have been sent or not. */
export async function answer(
  server: Pick<AgentServer, 'handle'>,
  req: IncomingMessage,
  res: ServerResponse,
  { target, readBody, ...asked }: Asked,
): Promise<void> {
  const { status, headers, body } = await server.handle({
    ...asked,
    ...partsOf(target),
    readBody: async (limit, ask) => {
      const read = await readBody(limit, ask);
      await endOfTurn();
      return read;
    },
    method: req.method ?? 'GET',
    headers: headersOf(req),
    signal: leavingOf(res),
  });
  // What was not read of the body would be taken for the next request.
  if (status === 413) res.setHeader('connection', 'close');
  if (typeof body === 'string') {
    await endOfTurn();
    // Without a length it would go out in chunks, which costs a client and a server more than the rest of the reply.
    res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    return;
  }
  res.writeHead(status, headers);
  if (body === undefined) res.end();
  else pump(body, res);
}

/** Aborted when the client leaves. By itself: what a listener's function can see stays as long as a stream does. */
function leavingOf(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) gone.abort(left);
  });
  return gone.signal;
}

/** Why a request is not of interest any more. One for all: an abort without a reason makes an error with a stack. */
const left = new Error('The client left');

/** Split by hand: a URL parser would resolve `..`, take `//name` for a host, and throw at some. */
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
