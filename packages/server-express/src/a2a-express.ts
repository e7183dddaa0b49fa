import type { AgentServer } from '@batonjs/server';
import type { Request, RequestHandler, Response } from 'express';
import { readBody } from './read-body.ts';

/**
 * Serves an agent from an Express app, below the path it is mounted at. Works with or without `express.json()` before
 * it. The agent's card names the address of the request only on this machine or where Express trusts its proxy
 * (`trust proxy`); elsewhere give the server its `publicUrl`.
 */
export function a2aExpress(server: Pick<AgentServer, 'handle'>): RequestHandler {
  return async (req, res, next) => {
    try {
      const gone = new AbortController();
      res.once('close', () => gone.abort());
      const { path, query } = targetOf(req.url);
      const reply = await server.handle({
        method: req.method,
        path,
        query,
        headers: headersOf(req),
        readBody: (limit) => readBody(req, limit),
        baseUrl: baseUrlOf(req),
        signal: gone.signal,
      });
      // What was not read of the body would be taken for the next request.
      if (reply.status === 413) res.setHeader('connection', 'close');
      res.writeHead(reply.status, reply.headers);
      if (reply.body === undefined || typeof reply.body === 'string') res.end(reply.body);
      else await pump(reply.body, res, gone.signal);
    } catch (error) {
      if (!res.headersSent) next(error);
      else res.destroy();
    }
  };
}

/** Split by hand: a URL parser would resolve `..`, take `//name` for a host, and throw at some. */
function targetOf(target: string): { path: string; query: URLSearchParams } {
  const [, path = '', query] = /^([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  return { path, query: new URLSearchParams(query) };
}

const headersOf = ({ headers }: Request): Record<string, string | undefined> => {
  const flat: Record<string, string | undefined> = {};
  for (const name in headers) {
    const value = headers[name];
    flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
};

/** Where the request says the agent is, if it may be believed. */
function baseUrlOf(req: Request): string | undefined {
  const host = req.get('host');
  const trusted = req.app.get('trust proxy') !== false || isLoopback(req.socket.remoteAddress);
  return host && trusted ? `${req.protocol}://${host}${req.baseUrl}` : undefined;
}

const isLoopback = (address = '') => /^(::1$|127\.|::ffff:127\.)/.test(address);

/** Writes a stream as fast as the client reads it. */
async function pump(body: AsyncIterable<string>, res: Response, gone: AbortSignal): Promise<void> {
  res.flushHeaders();
  for await (const text of body) {
    if (gone.aborted) return;
    if (!res.write(text)) await drained(res, gone);
  }
  res.end();
}

function drained(res: Response, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done);
      gone.removeEventListener('abort', done);
      resolve();
    };
    res.once('drain', done);
    gone.addEventListener('abort', done);
    if (gone.aborted) done();
  });
}
