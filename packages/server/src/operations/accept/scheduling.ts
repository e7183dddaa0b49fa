import type { Message } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import { SCHEDULING } from '@batonjs/protocol/headers';
import { isoTime } from '../../timing/clock.ts';
import type { CallContext } from '../call/call-context.ts';

/**
 * When a message may be worked on, if it says so and that is later than `now` (milliseconds since 1970): ISO 8601, UTC,
 * milliseconds. Throws `INVALID_PARAMS` for a time that is none, or is more than `mostMs` in the future.
 */
export function notBeforeOf(
  { metadata }: Message,
  { extensions }: CallContext,
  now: number,
  mostMs: number,
): string | undefined {
  const wish = metadata?.[SCHEDULING];
  if (wish === undefined || !extensions.includes(SCHEDULING)) return undefined;
  if (typeof wish !== 'object' || wish === null || Array.isArray(wish))
    throw invalid('', 'must be an object');
  const { notBefore } = wish as Readonly<Record<string, unknown>>;
  if (notBefore === undefined) return undefined;
  const time = typeof notBefore === 'string' && isTime.test(notBefore) ? Date.parse(notBefore) : Number.NaN;
  if (Number.isNaN(time))
    throw invalid('.notBefore', 'must be a time as in RFC 3339, in UTC or with its offset');
  if (time > now + mostMs) throw invalid('.notBefore', `must not be later than ${isoTime(now + mostMs)}`);
  return time > now ? isoTime(time) : undefined;
}

/** `Date.parse` takes dates without a time, and times without an offset, which it reads in the server's time zone. */
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

const invalid = (member: string, description: string) =>
  invalidParams([{ field: `message.metadata["${SCHEDULING}"]${member}`, description }]);
