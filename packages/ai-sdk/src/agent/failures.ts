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
 * cannot be fetched is an error of the caller; a task may have used its tokens.
 */
export const failureOf = ({ cause }: ModelFailure): Failure =>
  A2AError.is(cause, 'INVALID_PARAMS') || A2AError.is(cause, 'RESOURCE_EXHAUSTED')
    ? {
        ...{ code: cause.reason, message: cause.message, retryable: false },
        ...(cause.metadata && { details: cause.metadata }),
      }
    : { code: 'MODEL_FAILED', message: 'The language model failed', retryable: isRetryable(cause) };

/** Whether the same request may succeed later: as the error says, and yes where nothing is known. */
const isRetryable = (error: unknown): boolean => {
  const last = Object(RetryError.isInstance(error) ? error.lastError : error);
  return typeof last.isRetryable === 'boolean' ? last.isRetryable : !setupErrors.has(last.name);
};

/** Names of errors that stay until the program or its settings change: a missing key, a model that is not there. */
const setupErrors: ReadonlySet<unknown> = new Set([
  'AI_InvalidArgumentError',
  'AI_InvalidPromptError',
  'AI_LoadAPIKeyError',
  'AI_LoadSettingError',
  'AI_NoSuchModelError',
  'AI_NoSuchProviderError',
  'AI_UnsupportedFunctionalityError',
  // What `streamText` makes of a refused key of the gateway. In production it has the second name.
  'GatewayAuthenticationError',
  'GatewayError',
]);

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
