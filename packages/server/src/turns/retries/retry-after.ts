import { retryAfterMs as headerTime } from '@batonjs/protocol/timing';

/** The longest wait that an error may ask for, in milliseconds: a day. */
const longestMs = 86_400_000;

type Members = Readonly<Record<string, unknown>>;

/**
 * The milliseconds after which an error says that another try may help; undefined if it does not say. `retryAfterMs` of
 * the error counts, then the seconds of its `retryAfter` (`A2AError`), then the headers of the HTTP reply that it is of:
 * `retry-after-ms`, and `Retry-After` in seconds or as a date. RFC 9110 §10.2.3. Never throws, for any thrown value.
 */
export function retryAfterMs(error: unknown, now: number): number | undefined {
  try {
    const { retryAfterMs: ms, retryAfter: seconds, headers, responseHeaders, response } = membersOf(error);
    const asked =
      waitOf(ms, 1) ??
      waitOf(seconds, 1_000) ??
      [headers, responseHeaders, membersOf(response).headers]
        .map((some) => headerMs(some, now))
        .find(isKnown);
    return asked === undefined ? undefined : Math.min(longestMs, Math.max(0, asked));
  } catch {
    // The error throws when its members are read.
    return undefined;
  }
}

function headerMs(headers: unknown, now: number): number | undefined {
  const ms = waitOf(headerOf(headers, 'retry-after-ms'), 1);
  if (ms !== undefined) return ms;
  return headerTime(String(headerOf(headers, 'retry-after') ?? ''), now);
}

/** The header of a `Headers` object, or of an object with the names as members in any case. */
function headerOf(headers: unknown, name: string): unknown {
  const members = membersOf(headers);
  if (typeof members.get === 'function') return members.get(name) ?? undefined;
  const value = Object.entries(members).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(value) ? value[0] : value;
}

function waitOf(value: unknown, unitMs: number): number | undefined {
  const isNumeric = typeof value === 'number' || (typeof value === 'string' && /^\s*\d/.test(value));
  const ms = isNumeric ? Number(value) * unitMs : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

const membersOf = (value: unknown): Members => Object(value) as Members;

const isKnown = (ms: number | undefined): boolean => ms !== undefined;
