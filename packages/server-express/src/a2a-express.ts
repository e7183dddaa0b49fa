import { A2AError } from '@batonjs/protocol/errors';
import type { AgentServer, HttpExchange } from '@batonjs/server';
import { mustHandle } from '@batonjs/server/adapter';
import { answer, mountOf, readIncomingBody } from '@batonjs/server-node/adapter';
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express';

/**
 * Serves an agent from an app of Express 5 or 4, below the path of the mount: `app.use('/agent', a2aExpress(server))`. Works
 * with and without `express.json()` before it. The second handler answers errors of a body parser, and every `A2AError` of a
 * middleware, as errors of the protocol. The agent's card has the address of the request only for a request from this machine
 * to this machine, or if Express trusts its proxy (`trust proxy`), which must then set `Host`. Otherwise give the server its
 * `publicUrl`.
 */
export function a2aExpress(
  server: Pick<AgentServer, 'handle'>,
): [handler: RequestHandler, onError: ErrorRequestHandler] {
  mustHandle(server, 'a2aExpress');
  const serve = async (
    req: Request,
    res: Response,
    next: NextFunction,
    read: HttpExchange['readBody'],
    refusal?: A2AError,
  ) => {
    try {
      await answer(server, req, res, { target: req.url, readBody: read, ...whereFrom(req), refusal });
    } catch (error) {
      if (!res.headersSent) next(error);
      else res.destroy();
    }
  };
  return [
    (req, res, next) => serve(req, res, next, (limit) => readIncomingBody(req, limit)),
    (error: unknown, req, res, next) => {
      if (A2AError.is(error)) return serve(req, res, next, (limit) => readIncomingBody(req, limit), error);
      const read = refusedBody(error, req);
      return read ? serve(req, res, next, read) : next(error);
    },
  ];
}

/** Express parses what proxies say at each read of `ip` and `protocol`, also where it trusts none. */
function whereFrom(req: Request): ReturnType<typeof mountOf> & Pick<HttpExchange, 'remoteAddress'> {
  const { socket, baseUrl: path } = req;
  const host = req.get('host');
  if (req.app.get('trust proxy') !== false) {
    const mount = mountOf(socket, { protocol: req.protocol, host, path, trusted: true });
    return { ...mount, remoteAddress: req.ip };
  }
  const protocol = 'encrypted' in socket && socket.encrypted ? 'https' : 'http';
  const mount = mountOf(socket, { protocol, host, path, trusted: false });
  return { ...mount, remoteAddress: socket.remoteAddress };
}

/** Reads a body that a parser refused. Undefined if the error is not that of a parser. */
function refusedBody(error: unknown, req: Request): HttpExchange['readBody'] | undefined {
  const { type, code, limit, body } = Object(error) as Record<string, unknown>;
  switch (type) {
    case 'entity.too.large':
      return async () => ({ longerThan: Number(limit) });
    case 'entity.parse.failed':
      return async () => ({ bytes: typeof body === 'string' ? Buffer.from(body) : unreadable });
    case 'request.aborted':
      return () => Promise.reject(error);
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return async (most) => (req.readableEnded ? { bytes: unreadable } : readIncomingBody(req, most));
    default:
      // An error of zlib.
      return String(code).startsWith('Z_') ? async () => ({ bytes: unreadable }) : undefined;
  }
}

/** Stands for a body that is lost. It is not JSON. */
const unreadable = Buffer.from('?');
