import { A2AError, CodedError } from '@batonjs/protocol/errors';

/** Why a call failed on the client's side. */
export type ClientErrorCode =
  /** The agent could not be reached, or the connection broke. */
  | 'NETWORK'
  /** The deadline of the call passed. A task that the call started continues to run. */
  | 'TIMEOUT'
  /** The caller aborted its signal; the signal's reason is the `cause`. */
  | 'ABORTED'
  /** The response has more bytes than the limit allows. */
  | 'RESPONSE_TOO_LARGE'
  /** The `credentials` hook failed; its error is the `cause`. */
  | 'CREDENTIALS'
  /** The address passed to `connect`, or one of `trustedOrigins`, is not an `http:` or `https:` URL. */
  | 'INVALID_URL'
  /** The response at the card's address is not an agent card. */
  | 'INVALID_CARD'
  /** `verifyCard` refused the card; its error is the `cause`. */
  | 'UNTRUSTED_CARD'
  /** The card lists no interface that this client supports and is allowed to use. */
  | 'NO_INTERFACE';

/** A failure on the client's side. Errors that the agent reports are `A2AError`s instead. */
export class ClientError extends CodedError<ClientErrorCode> {
  static override readonly title = 'ClientError';
}

/** Whether the same call may succeed later: the agent could not be reached, gave no answer in time, or is busy. */
export const isTransient = (error: unknown): boolean =>
  ClientError.is(error, 'NETWORK') ||
  ClientError.is(error, 'TIMEOUT') ||
  A2AError.is(error, 'UNAVAILABLE') ||
  A2AError.is(error, 'RESOURCE_EXHAUSTED');

/** Whether no connection was made, so that the agent cannot have received the request. Browsers do not report it. */
export function wasNotConnected(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true;
  }
  return false;
}
