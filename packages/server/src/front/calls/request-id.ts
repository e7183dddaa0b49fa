import { newId } from '../../base/system/new-id.ts';
import type { Clock } from '../../base/timing/clock.ts';

/** The header that names a request, in requests and in answers. */
export const REQUEST_ID = 'x-request-id';

/**
 * The id of a request, for lines of the log: the one that the client or a proxy gave it, or a new one. One that is longer
 * than 128 characters, or has others than letters, digits and `-._~:+/=@`, is replaced: it is written into logs.
 */
export function requestIdOf(headers: Readonly<Record<string, string | undefined>>, clock: Clock): string {
  const given = headers[REQUEST_ID];
  return given !== undefined && /^[\w.~:+/=@-]{1,128}$/.test(given) ? given : newId(clock);
}
