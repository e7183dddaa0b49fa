import { A2AError } from '@batonjs/protocol/errors';
import { type Backoff, backoffMs, retryAfterMs as headerTime } from '@batonjs/protocol/timing';
import { NonRetryableError, type Retry, type StepRetry, type TurnRetry } from '../../agent/retries/retry.ts';
import type { Logger } from '../../base/hooks/logger.ts';
import type { Clock } from '../../base/timing/clock.ts';

/** How often something is tried again, completed. */
export interface RetryPolicy {
  readonly retries: number;
  readonly backoff: Required<Backoff>;
  readonly retryIf: (error: unknown, attempt: number) => boolean;
}

/** The same for a step. */
export interface StepPolicy extends RetryPolicy {
  readonly timeoutMs: number | undefined;
}

/** The policies of a server or worker. */
export interface RetryPolicies {
  readonly turns: RetryPolicy;
  readonly steps: StepPolicy;
}

const backoff: Required<Backoff> = { initialMs: 1_000, factor: 2, maxMs: 60_000, jitter: 0.2 };

/** The default of `retryIf`. */
function isWorthRetrying(error: unknown): boolean {
  if (!A2AError.is(error)) return true;
  return (
    error.reason === 'UNAVAILABLE' || error.reason === 'INTERNAL_ERROR' || error.retryAfter !== undefined
  );
}

const once: StepPolicy = { retries: 0, backoff, retryIf: isWorthRetrying, timeoutMs: undefined };

/** The policies of options. Throws `TypeError`, naming the option, for values that cannot work. */
export function completeRetry({ steps = {}, ...turns }: TurnRetry = {}): RetryPolicies {
  const ofTurns = completed(turns, once, 'retry');
  return { turns: ofTurns, steps: stepPolicy(steps, { ...once, backoff: ofTurns.backoff }, 'retry.steps') };
}

/** The policy of a step. Throws `TypeError` for values that cannot work. */
export function stepPolicy(given: StepRetry, defaults: StepPolicy, name: string): StepPolicy {
  const { timeoutMs = defaults.timeoutMs } = given;
  mustBe(timeoutMs === undefined || timeoutMs > 0, `${name}.timeoutMs`, 'more than 0');
  return { ...completed(given, defaults, name), timeoutMs };
}

/** The policies with guards around the functions of users: one that throws is logged, and nothing is tried again. */
export const guardRetry = ({ turns, steps }: RetryPolicies, logger: Logger): RetryPolicies => ({
  turns: { ...turns, retryIf: guarded(turns.retryIf, logger) },
  steps: { ...steps, retryIf: guarded(steps.retryIf, logger) },
});

const guarded =
  (retryIf: RetryPolicy['retryIf'], logger: Logger): RetryPolicy['retryIf'] =>
  (error, attempt) => {
    try {
      return retryIf(error, attempt);
    } catch (error) {
      logger('error', '`retryIf` failed', { error });
      return false;
    }
  };

/** Whether the failures of a step are counted: without that, it costs what its function costs. */
export const isCounted = ({ retries, timeoutMs }: StepPolicy): boolean =>
  retries > 0 || timeoutMs !== undefined;

function completed(given: Retry, defaults: RetryPolicy, name: string): RetryPolicy {
  const { retries = defaults.retries, retryIf = defaults.retryIf } = given;
  const times = { ...defaults.backoff, ...given.backoff };
  mustBe(
    retries === Number.POSITIVE_INFINITY || (Number.isInteger(retries) && retries >= 0),
    `${name}.retries`,
    'a whole number, 0 or more',
  );
  mustBe(times.initialMs >= 0, `${name}.backoff.initialMs`, '0 or more');
  mustBe(times.factor >= 1, `${name}.backoff.factor`, '1 or more');
  mustBe(times.maxMs >= 0, `${name}.backoff.maxMs`, '0 or more');
  mustBe(times.jitter >= 0 && times.jitter <= 1, `${name}.backoff.jitter`, '0 to 1');
  return { retries, backoff: times, retryIf };
}

function mustBe(isSo: boolean, name: string, what: string): void {
  if (!isSo) throw new TypeError(`\`${name}\` must be ${what}`);
}

/**
 * When the next try is due, in milliseconds since 1970; undefined if there is none. `attempt`: which try the error ended,
 * from 1.
 */
export function nextTryAt(
  error: unknown,
  attempt: number,
  { retries, backoff, retryIf }: RetryPolicy,
  { now, random }: Pick<Clock, 'now' | 'random'>,
): number | undefined {
  if (attempt > retries || NonRetryableError.is(error) || !retryIf(error, attempt)) return undefined;
  const at = now();
  return at + Math.round(retryAfterMs(error, at) ?? backoffMs(attempt, backoff, random));
}

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
