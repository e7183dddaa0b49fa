import type { HttpExchange } from '@batonjs/server';
import { readIncomingBody } from '@batonjs/server-node/adapter';
import type { Request } from 'express';

/** Reads a body that a parser refused. Undefined if the error is not that of a parser. */
export function refusedBody(error: unknown, req: Request): HttpExchange['readBody'] | undefined {
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
