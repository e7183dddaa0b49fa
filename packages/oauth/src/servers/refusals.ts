import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { OAuthError } from '../options.ts';

/** Wraps an error that a function of the options threw. The caller gets its `cause`. */
class OptionError extends Error {}

/** Calls a function in the options, so that `failureOf` can tell its errors from those of the authorization server. */
export async function callOption<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    // `authorize` passes on what `begin` rejects with.
    if (error instanceof OAuthError || error instanceof ClientError) throw error;
    throw new OptionError('A function in the options failed', { cause: error });
  }
}

/** The error of a function of the options as it was thrown; every other error as an `OAuthError`. */
export const failureOf = (error: unknown, server: string): unknown =>
  error instanceof OptionError ? error.cause : toOAuthError(error, server);

/**
 * The error for a failed request to an authorization server. The library's own errors hold whole answers, with their
 * secrets, so nothing but the server's code and the library's sentence is taken from them.
 */
export function toOAuthError(error: unknown, server: string): OAuthError {
  // The library wraps errors of its `fetch`.
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof OAuthError) return cause;
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError) {
    const reason = printable(error.error);
    const description = error.error_description ? `: ${printable(error.error_description)}` : '';
    return new OAuthError('REFUSED', `${server} refuses with ${reason}${description}`, reason);
  }
  if (error instanceof WWWAuthenticateChallengeError)
    return new OAuthError('REFUSED', `${server} refuses the client with the status ${error.status}`);
  const why = error instanceof Error ? error.message : 'for an unknown reason';
  return new OAuthError('INVALID_ANSWER', `${server} gives no usable answer: ${why}`);
}

/** Text of a server for messages and logs: without control characters, and of bounded length. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
