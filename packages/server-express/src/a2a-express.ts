import type { Server, Socket } from 'node:net';
import type { A2AError, AgentServer, HttpExchange } from '@batonjs/server';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';
import { readBody, refusedBody } from './read-body.ts';

/**
 * Serves an agent from an Express app, below the path it is mounted at: `app.use('/agent', a2aExpress(server))`. Works with
 * or without `express.json()` before it; what a body parser refuses is answered in the protocol's own words, and so is an
 * `A2AError` that a middleware passes on, hence the second handler. The agent's card names the address of the request only on this machine or where Express trusts its proxy
 * (`trust proxy`); elsewhere give the server its `publicUrl`.
 */
export function a2aExpress(
  server: Pick<AgentServer, 'handle'>,
): [handler: RequestHandler, onError: ErrorRequestHandler] {
  const answer = async (
    req: Request,
    res: Response,
    next: NextFunction,
    read: HttpExchange['readBody'],
    refusal?: A2AError,
  ) => {
    try {
      const gone = new AbortController();
      res.on('close', () => {
        if (!res.writableFinished) gone.abort(left);
      });
      const { path, query } = targetOf(req.url);
      const reply = await server.handle({
        method: req.method,
        path,
        query,
        headers: headersOf(req),
        readBody: read,
        baseUrl: baseUrlOf(req),
        signal: gone.signal,
        refusal,
      });
      // What was not read of the body would be taken for the next request.
      if (reply.status === 413) res.setHeader('connection', 'close');
      const { status, headers, body } = reply;
      if (typeof body === 'string') {
        // Without a length it would go out in chunks, which costs a client and a server more than the rest of the reply.
        res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
        return;
      }
      res.writeHead(status, headers);
      if (body === undefined) res.end();
      else pump(body, res);
    } catch (error) {
      if (!res.headersSent) next(error);
      else res.destroy();
    }
  };
  return [
    (req, res, next) => answer(req, res, next, (limit) => readBody(req, limit)),
    (error: unknown, req, res, next) => {
      if (isRefusal(error)) return answer(req, res, next, (limit) => readBody(req, limit), error);
      const read = refusedBody(error, req);
      return read ? answer(req, res, next, read) : next(error);
    },
  ];
}

const isRefusal = (error: unknown): error is A2AError => error instanceof Error && error.name === 'A2AError';

/** Split by hand: a URL parser would resolve `..`, take `//name` for a host, and throw at some. */
function targetOf(target: string): { path: string; query: URLSearchParams } {
  const [, path = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  return { path, query: new URLSearchParams(query) };
}

/** Why a request is not of interest any more. One for all: an abort without a reason makes an error with a stack. */
const left = new Error('The client left');

const headersOf = ({ headers }: Request): Record<string, string | undefined> => {
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
};

/** Where the request says the agent is, if it may be believed; where it arrived, if what it says is no host. */
function baseUrlOf(req: Request): string | undefined {
  const { remoteAddress, localAddress, localPort } = req.socket;
  const trusted = req.app.get('trust proxy') !== false || isLoopback(remoteAddress) || isGone(req.socket);
  if (!trusted) return undefined;
  const arrived = localAddress?.includes(':')
    ? `[${localAddress}]:${localPort}`
    : `${localAddress}:${localPort}`;
  const host = hostIn(req.get('host')) ?? arrived;
  return `${req.protocol}://${host}${req.baseUrl}`;
}

/** A connection that is gone has no address any more, and nobody waits for the answer; one over a Unix socket never had one. */
function isGone(socket: Socket): boolean {
  const { server } = socket as Socket & { readonly server?: Server };
  return socket.remoteAddress === undefined && typeof server?.address() !== 'string';
}

const hostIn = (header = ''): string | undefined =>
  /^[^\s/\\?#@]+$/.test(header) && URL.canParse(`http://${header}`) ? header : undefined;

const isLoopback = (address = '') => /^(::1$|127\.|::ffff:127\.)/.test(address);

/** Writes a stream as fast as the client reads it. */
function pump(body: AsyncIterable<string>, res: Response): void {
  const texts = body[Symbol.asyncIterator]();
  const fail = () => void res.destroy();
  const next = () => void texts.next().then(write, fail);
  const write = ({ done, value }: IteratorResult<string>) => {
    try {
      if (done) res.end();
      // Otherwise `drain` goes on.
      else if (res.write(value)) next();
    } catch {
      fail();
    }
  };
  res.on('drain', next);
  res.on('close', () => void texts.return?.());
  res.flushHeaders();
  next();
}
