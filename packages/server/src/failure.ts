import { A2AError } from '@batonjs/protocol/errors';
import type { Failure } from './builders.ts';

/** What clients are told of an error that an agent threw: an `A2AError` as it is, of everything else only that it was. */
export const failureOf = (error: unknown): Failure =>
  A2AError.is(error) && error.reason !== 'INTERNAL_ERROR'
    ? { code: error.reason, message: error.message }
    : { code: 'AGENT_FAILED', message: 'The agent failed' };
