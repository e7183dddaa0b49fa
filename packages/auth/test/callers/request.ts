import { A2AError } from '@batonjs/protocol/errors';
import type { Authenticator, CredentialedRequest } from '../../src/index.ts';

/** A request as the server passes it to `authenticate`. */
export const request = (headers: Record<string, string> = {}, query = ''): CredentialedRequest => ({
  headers,
  query: new URLSearchParams(query),
});

/** The error with which an authenticator refuses a request. */
export async function refusal(authenticate: Authenticator, of: CredentialedRequest): Promise<A2AError> {
  const outcome = await authenticate(of).then(
    (caller) => new Error(`Not refused: ${JSON.stringify(caller)}`),
    (error: unknown) => error,
  );
  if (A2AError.is(outcome)) return outcome;
  throw outcome;
}
