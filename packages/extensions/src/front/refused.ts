import { A2AError, type ErrorRow, errorTable } from '@batonjs/protocol/errors';
import { toHeaders } from '@batonjs/server/adapter';

/** How a request is refused. */
export interface Refused {
  readonly row: ErrorRow;
  readonly headers: Record<string, string>;
  /** The error, if the caller may read it; of others, the caller reads only that there was one. */
  readonly shown: A2AError | undefined;
}

/** The refusal of a request. `onError` is told of errors that are no fault of the caller. */
export function refused(error: unknown, onError: (error: unknown) => void): Refused {
  const known = A2AError.is(error) ? (errorTable[error.reason] as ErrorRow | undefined) : undefined;
  const row = known ?? errorTable.INTERNAL_ERROR;
  if (row.http >= 500) onError(error);
  const shown = A2AError.is(error) && row.status !== 'INTERNAL' ? error : undefined;
  // RFC 9110 §15.5.2: a reply with the status 401 has a challenge.
  const challenge = row.http === 401 && { 'www-authenticate': 'Bearer' };
  return { row, shown, headers: { ...challenge, ...(shown && toHeaders(shown)) } };
}
