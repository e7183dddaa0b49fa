import type { MessageReceived } from '@batonjs/lifecycle';
import type { Message } from '@batonjs/protocol';
import { invalidParams } from '@batonjs/protocol/errors';
import { SCHEDULING } from '@batonjs/protocol/headers';
import { isObject } from '@batonjs/protocol/json';
import { isoTime } from '../../base/timing/clock.ts';
import type { CallContext } from '../call/call-context.ts';

/** When and how urgently a message is to be worked on. */
export type Scheduling = Pick<MessageReceived, 'notBefore' | 'priority'>;

const none: Scheduling = {};

/**
 * What a message asks for its turn: a time that is later than `now` (milliseconds since 1970), and a priority from 1 to
 * 9. Throws `INVALID_PARAMS` for a time that is none, or is more than `mostMs` in the future, and for another priority.
 */
export function schedulingOf(
  { metadata }: Message,
  { extensions }: CallContext,
  now: number,
  mostMs: number,
): Scheduling {
  const scheduling = metadata?.[SCHEDULING];
  if (scheduling === undefined || !extensions.includes(SCHEDULING)) return none;
  if (!isObject(scheduling)) throw invalid('', 'must be an object');
  const { notBefore, priority } = scheduling as Readonly<Record<string, unknown>>;
  const time = notBefore === undefined ? 0 : timeOf(notBefore, now + mostMs);
  const urgency = priority === undefined ? 0 : Number(priority);
  const isPriority =
    typeof priority === 'number' && Number.isInteger(urgency) && urgency >= 0 && urgency <= 9;
  if (priority !== undefined && !isPriority) throw invalid('.priority', 'must be a whole number from 0 to 9');
  return { ...(time > now && { notBefore: isoTime(time) }), ...(urgency > 0 && { priority: urgency }) };
}

/** `latest`: milliseconds since 1970, as the result. */
function timeOf(notBefore: unknown, latest: number): number {
  const time = typeof notBefore === 'string' && isTime.test(notBefore) ? Date.parse(notBefore) : Number.NaN;
  if (Number.isNaN(time))
    throw invalid('.notBefore', 'must be a time as in RFC 3339, in UTC or with its offset');
  if (time > latest) throw invalid('.notBefore', `must not be later than ${isoTime(latest)}`);
  return time;
}

/** `Date.parse` takes dates without a time, and times without an offset, which it reads in the server's time zone. */
const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

const invalid = (member: string, description: string) =>
  invalidParams([{ field: `message.metadata["${SCHEDULING}"]${member}`, description }]);
