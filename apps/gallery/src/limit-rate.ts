import { A2AError } from '@batonjs/server';
import type { RequestHandler } from 'express';
import { rateLimit } from 'express-rate-limit';

/**
 * Refuses addresses that send more than `perMinute` requests in a minute. Mount it before `a2aExpress`, which answers
 * with an error of the protocol. Each process counts for itself; a shared store of express-rate-limit would change that.
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
