import type { HttpExchange } from '@batonjs/server';
import { readBody } from '@batonjs/server-node/adapter';
import type { Request } from 'express';

/** How to read a body that a parser before us did not want, or undefined if the error is not about that. */
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
      return async (most) => (req.readableEnded ? { bytes: unreadable } : readBody(req, most));
    default:
      // What zlib could not unpack.
      return String(code).startsWith('Z_') ? async () => ({ bytes: unreadable }) : undefined;
  }
}

/** Stands for a body that is lost: not JSON. */
const unreadable = Buffer.from('?');
