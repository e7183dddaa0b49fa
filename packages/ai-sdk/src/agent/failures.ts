import { APICallError } from '@ai-sdk/provider';
import { A2AError, type Failure } from '@batonjs/server';
import { type FinishReason, RetryError } from 'ai';

/** The model failed. Clients are not shown the cause. */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';

  constructor(cause: unknown) {
    super('The language model failed', { cause });
  }
}

/**
 * What clients get for an error of a model. Nothing of the error itself: it may contain prompts and keys. A file that
 * cannot be fetched is an error of the caller.
 */
export const failureOf = ({ cause }: ModelFailure): Failure =>
  A2AError.is(cause, 'INVALID_PARAMS')
    ? { code: cause.reason, message: cause.message, retryable: false }
    : { code: 'MODEL_FAILED', message: 'The language model failed', retryable: isRetryable(cause) };

const isRetryable = (error: unknown): boolean => {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return APICallError.isInstance(last) ? last.isRetryable : true;
};

/** What clients get for an answer that ended otherwise than the agent accepts. */
export const failureFor = (reason: FinishReason | undefined): Failure =>
  failures[reason ?? 'other'] ?? unfinished;

const unfinished: Failure = {
  code: 'MODEL_FAILED',
  message: 'The language model did not give a whole answer',
  retryable: true,
};

const failures: Readonly<Record<string, Failure>> = {
  length: { code: 'MODEL_LENGTH', message: 'The answer of the language model became too long' },
  'content-filter': { code: 'MODEL_FILTERED', message: 'The language model may not give this answer' },
  'tool-calls': { code: 'MODEL_STEPS', message: 'The language model made no answer within its steps' },
};
