import { A2AError } from '@batonjs/server';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';

/**
 * Refuses addresses that send more than so many requests in a minute. Put before `a2aExpress`, which says it in the words
 * of the protocol. Each process counts for itself, unless a store of express-rate-limit is given that they share.
 */
export function limitRate(perMinute: number): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    handler: (_request, response, next) => {
      const retryAfter = Number(response.getHeader('retry-after'));
      next(new A2AError('RESOURCE_EXHAUSTED', 'Too many requests from this address', { retryAfter }));
    },
  });
}
