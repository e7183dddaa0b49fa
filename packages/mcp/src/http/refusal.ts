import { A2AError, ClientError } from '@batonjs/client';
import { errorTable } from '@batonjs/protocol/errors';
import type { OnError } from '../translation/failures.ts';

/** An error of JSON-RPC for a request whose id was not read. */
export const errorResponse = (
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers: { ...headers } });

/**
 * The reply to a request whose caller was refused, or for which no agent was found. The caller reads an `A2AError`, and
 * of other errors only their kind. `onError` sees every error that is no fault of the caller.
 */
export function refusal(error: unknown, onError: OnError): Response {
  const row = A2AError.is(error) ? errorTable[error.reason] : undefined;
  if (!A2AError.is(error) || !row || row.status === 'INTERNAL') {
    onError(error);
    return ClientError.is(error)
      ? errorResponse(502, internalError, `The agent cannot be called (${error.code})`)
      : errorResponse(500, internalError, 'Internal error');
  }
  if (row.http >= 500) onError(error);
  const { challenge = row.http === 401 ? 'Bearer' : undefined, retryAfter } = error;
  return errorResponse(row.http, row.jsonRpc, error.message, {
    // RFC 9110 §15.5.2: a reply with the status 401 has a challenge.
    ...(challenge && { 'www-authenticate': challenge }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  });
}

const internalError = -32_603;
