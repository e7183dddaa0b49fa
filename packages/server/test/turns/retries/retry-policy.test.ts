import { A2AError } from '@batonjs/protocol/errors';
import { describe, expect, it } from 'vitest';
import { NonRetryableError, type TurnRetry } from '../../../src/agent/retries/retry.ts';
import {
  completeRetry,
  guardRetry,
  isCounted,
  nextTryAt,
  retryAfterMs,
  stepPolicy,
} from '../../../src/turns/retries/retry-policy.ts';
import { describeThrown } from '../../../src/turns/retries/thrown.ts';

const now = Date.UTC(2026, 0, 1);
const clock = (random = 1) => ({ now: () => now, random: () => random });
const policy = (given: TurnRetry) => completeRetry(given).turns;
const waitAfter = (attempt: number, given: TurnRetry, random?: number, error: unknown = new Error()) => {
  const at = nextTryAt(error, attempt, policy(given), clock(random));
  return at === undefined ? undefined : at - now;
};

describe('the wait before the next try', () => {
  it('grows from try to try up to a longest one', () => {
    const waits = (given: TurnRetry) =>
      [1, 2, 3, 4].map((attempt) => waitAfter(attempt, { retries: 4, ...given }));
    expect(waits({})).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits({ backoff: { initialMs: 10, factor: 10, maxMs: 500 } })).toEqual([10, 100, 500, 500]);
    expect(waits({ backoff: { factor: 1 } })).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(waitAfter(20, { retries: 20 })).toBe(60_000);
    expect(waitAfter(2_000, { retries: Number.POSITIVE_INFINITY })).toBe(60_000);
  });

  it('is shorter by chance, so that not all come at once', () => {
    expect(waitAfter(1, { retries: 1 }, 0.5)).toBe(900);
    expect(waitAfter(1, { retries: 1, backoff: { jitter: 1 } }, 0.5)).toBe(500);
    expect(waitAfter(1, { retries: 1, backoff: { jitter: 0 } }, 0.5)).toBe(1_000);
  });

  it('is the one that the error asks for', () => {
    const error = Object.assign(new Error(), { retryAfterMs: 123_456 });
    expect(waitAfter(1, { retries: 1 }, 0.5, error)).toBe(123_456);
  });
});

describe('there is no next try', () => {
  it('after the last one, and none at all by default', () => {
    expect(waitAfter(1, {})).toBeUndefined();
    expect(waitAfter(2, { retries: 2 })).toBe(2_000);
    expect(waitAfter(3, { retries: 2 })).toBeUndefined();
  });

  it('for an error that says so, also one of another copy of the package, whatever `retryIf` says', () => {
    const retryIf = () => true;
    expect(new NonRetryableError('No').name).toBe('NonRetryableError');
    for (const error of [new NonRetryableError('No'), Object.assign(new Error(), { code: 'NON_RETRYABLE' })])
      expect(waitAfter(1, { retries: 5, retryIf }, 1, error)).toBeUndefined();
    for (const other of [null, 'NON_RETRYABLE', Object.assign(new Error(), { code: 'OTHER' })])
      expect(waitAfter(1, { retries: 5 }, 1, other)).toBe(1_000);
  });

  it('for an error that `retryIf` does not want, which is told which try it was', () => {
    const seen: unknown[] = [];
    const error = new Error('x');
    const retryIf = (...args: unknown[]) => seen.push(args) < 2;
    expect(waitAfter(1, { retries: 5, retryIf }, 1, error)).toBe(1_000);
    expect(waitAfter(2, { retries: 5, retryIf }, 1, error)).toBeUndefined();
    expect(seen).toEqual([
      [error, 1],
      [error, 2],
    ]);
  });

  it.each([
    ['INVALID_PARAMS', undefined, false],
    ['INVALID_AGENT_RESPONSE', undefined, false],
    ['RESOURCE_EXHAUSTED', undefined, false],
    ['RESOURCE_EXHAUSTED', 3, true],
    ['UNAVAILABLE', undefined, true],
    ['INTERNAL_ERROR', undefined, true],
  ] as const)('for a refusal, but for %s with the wait %s: %s', (reason, retryAfter, isRetried) => {
    const error = new A2AError(reason, undefined, retryAfter === undefined ? {} : { retryAfter });
    expect(waitAfter(1, { retries: 1 }, 1, error)).toBe(isRetried ? (retryAfter ?? 1) * 1_000 : undefined);
  });

  it('where `retryIf` of the server throws, which is logged', () => {
    const lines: unknown[] = [];
    const failing = () => {
      throw new Error('In the hook');
    };
    const policies = guardRetry(
      completeRetry({ retries: 1, retryIf: failing, steps: { retryIf: failing } }),
      (...line) => lines.push(line),
    );
    for (const { retryIf } of [policies.turns, policies.steps]) expect(retryIf(new Error(), 1)).toBe(false);
    expect(lines).toEqual(Array(2).fill(['error', '`retryIf` failed', { error: new Error('In the hook') }]));
    expect(guardRetry(completeRetry(), () => {}).turns.retryIf(new Error(), 1)).toBe(true);
  });
});

describe('what an error asks for', () => {
  const date = new Date(now + 90_000).toUTCString();
  it.each<[string, unknown, number | undefined]>([
    ['milliseconds', { retryAfterMs: 5 }, 5],
    ['seconds of an error of A2A', { retryAfter: 2 }, 2_000],
    ['seconds in a header', { headers: { 'retry-after': '3' } }, 3_000],
    ['seconds in a header in other letters', { headers: { 'Retry-After': 3 } }, 3_000],
    ['a date in a header', { headers: new Headers({ 'Retry-After': date }) }, 90_000],
    ['a date of the past', { headers: { 'retry-after': new Date(now - 1_000).toUTCString() } }, 0],
    ['milliseconds in a header', { headers: { 'retry-after-ms': '70', 'retry-after': '3' } }, 70],
    ['a header of the reply', { response: { headers: new Headers({ 'retry-after': '4' }) } }, 4_000],
    ['headers of a reply, as models have them', { responseHeaders: { 'retry-after': '1.5' } }, 1_500],
    ['a list of headers', { headers: { 'retry-after': ['6'] } }, 6_000],
    ['more than a day', { retryAfterMs: 1e12 }, 86_400_000],
    ['less than nothing', { retryAfterMs: -5 }, 0],
    ['no time', { headers: { 'retry-after': 'soon' }, retryAfterMs: Number.NaN }, undefined],
    ['no number', { retryAfterMs: {}, retryAfter: null, headers: 7, response: null }, undefined],
    ['nothing', {}, undefined],
    ['nothing, as it is no object', undefined, undefined],
    ['nothing, as it cannot be read', throwing(), undefined],
  ])('%s', (_, error, ms) => {
    expect(retryAfterMs(error, now)).toBe(ms);
  });
});

describe('options', () => {
  it.each<[TurnRetry, string]>([
    [{ retries: -1 }, '`retry.retries` must be a whole number, 0 or more'],
    [{ retries: 1.5 }, '`retry.retries` must be a whole number, 0 or more'],
    [{ backoff: { initialMs: -1 } }, '`retry.backoff.initialMs` must be 0 or more'],
    [{ backoff: { factor: 0.5 } }, '`retry.backoff.factor` must be 1 or more'],
    [{ backoff: { maxMs: Number.NaN } }, '`retry.backoff.maxMs` must be 0 or more'],
    [{ backoff: { jitter: 1.1 } }, '`retry.backoff.jitter` must be 0 to 1'],
    [{ backoff: { jitter: -0.1 } }, '`retry.backoff.jitter` must be 0 to 1'],
    [{ steps: { retries: -1 } }, '`retry.steps.retries` must be a whole number, 0 or more'],
    [{ steps: { timeoutMs: 0 } }, '`retry.steps.timeoutMs` must be more than 0'],
  ])('that cannot work are refused: %j', (given, message) => {
    expect(() => completeRetry(given)).toThrow(new TypeError(message));
  });

  it('at their bounds work', () => {
    const backoff = { initialMs: 0, factor: 1, maxMs: 0, jitter: 0 };
    expect(policy({ retries: 0, backoff })).toMatchObject({ retries: 0, backoff });
    expect(policy({ backoff: { jitter: 1 } }).backoff.jitter).toBe(1);
  });

  it('of a step stand before those of the server, and those of steps before those of turns', () => {
    const retryIf = () => false;
    const { steps } = completeRetry({
      retries: 9,
      backoff: { initialMs: 5, factor: 3 },
      steps: { retries: 2, retryIf, backoff: { factor: 4 }, timeoutMs: 7 },
    });
    expect(steps).toMatchObject({ retries: 2, retryIf, timeoutMs: 7, backoff: { initialMs: 5, factor: 4 } });
    const own = stepPolicy({ retries: 1, backoff: { initialMs: 1 } }, steps, 'step');
    expect(own).toMatchObject({ retries: 1, retryIf, timeoutMs: 7, backoff: { initialMs: 1, factor: 4 } });
    expect(completeRetry({ retries: 9 }).steps).toMatchObject({ retries: 0, timeoutMs: undefined });
    expect(() => stepPolicy({ timeoutMs: -1 }, steps, 'step "s"')).toThrow(
      '`step "s".timeoutMs` must be more than 0',
    );
  });

  it('of a step without any count no failure', () => {
    const { steps } = completeRetry({ retries: 9 });
    expect(isCounted(steps)).toBe(false);
    expect(isCounted({ ...steps, retries: 1 })).toBe(true);
    expect(isCounted({ ...steps, timeoutMs: 1 })).toBe(true);
  });
});

describe('what operators are told of a thrown value', () => {
  it('is its message, stack and code', () => {
    const error = Object.assign(new Error('It broke'), { code: 'E_BROKE' });
    expect(describeThrown(error)).toEqual({ message: 'It broke', stack: error.stack, code: 'E_BROKE' });
    expect(describeThrown({ message: 'x', code: 7, stack: 5 })).toEqual({ message: 'x', code: '7' });
    expect(describeThrown('text')).toEqual({ message: 'text' });
    expect(describeThrown(undefined)).toEqual({ message: 'undefined' });
    expect(describeThrown(throwing())).toEqual({ message: 'The thrown value cannot be read' });
  });

  it('is short, and whole characters', () => {
    const long = describeThrown({
      message: 'm'.repeat(1_001),
      stack: 's'.repeat(4_001),
      code: 'c'.repeat(101),
    });
    expect(long).toEqual({
      message: `${'m'.repeat(999)}…`,
      stack: `${'s'.repeat(3_999)}…`,
      code: `${'c'.repeat(99)}…`,
    });
    expect(describeThrown({ message: 'm'.repeat(1_000) }).message).toBe('m'.repeat(1_000));
    const caused = (cause: unknown) =>
      describeThrown({ message: 'x', stack: 's'.repeat(5_000), cause }).stack!;
    expect(caused('no gas')).toMatch(/^s{1987}…\nCaused by: no gas$/);
    expect(caused({ stack: 'two', cause: { stack: 'three', cause: null } })).toMatch(
      /^s+…\nCaused by: two\nCaused by: three$/,
    );
    expect(caused({ a: 1 })).toMatch(/Caused by: an object without a stack$/);
    const circle: { stack: string; cause?: unknown } = { stack: 'round' };
    circle.cause = circle;
    expect(describeThrown(circle).stack!.match(/round/g)).toHaveLength(4);
    const pair = describeThrown(`${'m'.repeat(998)}😀xx`).message;
    expect(pair.isWellFormed()).toBe(true);
  });
});

function throwing(): unknown {
  return new Proxy(new Error('x'), {
    get() {
      throw new Error('inside');
    },
  });
}
