import { A2AError } from '@batonjs/protocol/errors';
import { retryAfterMs } from '@batonjs/protocol/timing';
import { expect, it } from 'vitest';
import { fromWire } from '../src/index.ts';

const now = Date.parse('Thu, 01 Jan 2026 00:00:00 GMT');
it.each<[string | undefined, number | undefined]>([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['2026-01-01', undefined],
  ['1x', undefined],
  ['-1', undefined],
  ['1.5', 1_500],
  ['0', 0],
  [' 7 ', 7_000],
  ['123456789', 123_456_789_000],
  ['1234567890', undefined],
  ['1 Jan 2026 00:00:05 GMT', undefined],
  ['x 1 Jan 2026 00:00:05 GMT', undefined],
  ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
  ['Wed, 31 Dec 2025 00:00:05 GMT', 0],
])('is read from `Retry-After: %s` as %s ms', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});

it('is read as a date by a client, too', () => {
  const retryAfter = new Date(Date.now() + 90_000).toUTCString();
  const error = fromWire({ status: 503, retryAfter });
  expect(A2AError.is(error, 'UNAVAILABLE')).toBe(true);
  expect(Math.ceil(Number(error.retryAfter) / 10)).toBe(9);
});
