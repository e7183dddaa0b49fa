import { A2AError } from '@batonjs/protocol/errors';
import { EVENT_STREAM } from '@batonjs/protocol/headers';
import { withoutNulls } from '../replies/without-nulls.ts';

/** The value parsed from a text, as `withoutNulls` makes it. Skips the walk when the text has nothing for it. */
export const nullFree = (text: string, value: unknown): unknown =>
  text.includes('null') || text.includes('_id"') ? withoutNulls(value) : value;

export const isEventStream = ({ headers }: Response): boolean =>
  Boolean(headers.get('content-type')?.toLowerCase().startsWith(EVENT_STREAM));

/** Whether the server knows no such path or method. */
export const isUnrouted = (status: number): boolean => status === 404 || status === 405;

/** Whether a 404 or 405 reply carries an error of A2A, instead of a server's answer to an unknown path or method. */
export function namesAnError(decode: () => unknown): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    return (
      A2AError.is(error) &&
      !A2AError.is(error, 'METHOD_NOT_FOUND') &&
      !A2AError.is(error, 'METHOD_NOT_ALLOWED')
    );
  }
}
