import { ClientError } from '@batonjs/client';
import { refused } from '@batonjs/extensions/internals';
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
  const { row, shown, headers } = refused(error, onError);
  if (shown) return errorResponse(row.http, row.jsonRpc, shown.message, headers);
  return ClientError.is(error)
    ? errorResponse(502, errorTable.INTERNAL_ERROR.jsonRpc, `The agent cannot be called (${error.code})`)
    : errorResponse(500, errorTable.INTERNAL_ERROR.jsonRpc, 'Internal error');
}
