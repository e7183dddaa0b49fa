import { A2AError } from '@batonjs/protocol/errors';
import { expect, it } from 'vitest';
import { failureOf } from '../../src/turns/failure.ts';

const hidden = { code: 'AGENT_FAILED', message: 'The agent failed' };

const throwing = new Proxy(new A2AError('INVALID_PARAMS', 'The order has no number'), {
  get() {
    throw new Error('inside');
  },
});

it.each([
  ['an error of the agent', new Error('password=secret'), hidden],
  ['a text', 'password=secret', hidden],
  ['nothing', undefined, hidden],
  ['an internal error', new A2AError('INTERNAL_ERROR', 'password=secret'), hidden],
  ['an error whose members cannot be read', throwing, hidden],
  [
    'a refusal',
    new A2AError('INVALID_PARAMS', 'The order has no number'),
    { code: 'INVALID_PARAMS', message: 'The order has no number' },
  ],
])('clients learn of %s what it says only if it is meant for them', (_what, thrown, shown) => {
  expect(failureOf(thrown)).toEqual(shown);
});
