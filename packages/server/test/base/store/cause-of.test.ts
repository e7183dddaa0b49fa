import { expect, it } from 'vitest';
import { causeOf } from '../../../src/base/store/store-outage.ts';

it('An error is one line with its causes, each said once', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  const known = new Error(`PostgreSQL does not answer: ${refused.message}`, { cause: refused });
  expect(causeOf(known)).toBe('PostgreSQL does not answer: connect ECONNREFUSED 127.0.0.1:5432');
  expect(causeOf(new Error('It\nfailed', { cause: refused }))).toBe(`It failed: ${refused.message}`);
  const grpc = new Error('14 UNAVAILABLE: No connection');
  expect(causeOf(new Error('etcd does not answer: No connection', { cause: grpc }))).toBe(
    'etcd does not answer: No connection',
  );
  expect(causeOf(new Error('It failed', { cause: 'no reason' }))).toBe('It failed: no reason');
});

it('An error without a message is its code, or its name', () => {
  const both = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
  expect(causeOf(new Error('It failed', { cause: both }))).toBe('It failed: ECONNREFUSED');
  expect(causeOf(new RangeError(''))).toBe('RangeError');
  const bare = Object.assign(new Error('', { cause: new Error('why') }), { code: '' });
  expect(causeOf(bare)).toBe('why');
});

it('Errors that cause each other end, and a long text is cut', () => {
  const first = new Error('first');
  const second = new Error('second', { cause: first });
  first.cause = second;
  expect(causeOf(first)).toBe('first: second');
  expect(causeOf(new Error('x'.repeat(1_000)))).toHaveLength(500);
});

it.each([
  ['connect to postgres://user:se/cr@et@db:5432/tasks failed', 'connect to postgres://db:5432/tasks failed'],
  ['redis://:secret@db:6379 is gone', 'redis://db:6379 is gone'],
  ['host=db password=secret user=me', 'host=db password=… user=me'],
  ['{ "password": "secret", "user": "me" }', '{ "password": … "user": "me" }'],
])('%s: credentials are left out', (text, shown) => {
  expect(causeOf(new Error(text))).toBe(shown);
});
