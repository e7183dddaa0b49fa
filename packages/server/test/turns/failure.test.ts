import { A2AError } from '@batonjs/protocol/errors';
import { expect, it } from 'vitest';
import {
  because,
  deadlineExceeded,
  failureOf,
  processLost,
  serverClosed,
  withAttempts,
} from '../../src/turns/failure.ts';
import { logTurnEvent } from '../../src/turns/turn-dependencies.ts';

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
  [
    'a refusal with metadata, and not of its cause',
    new A2AError('RESOURCE_EXHAUSTED', 'Used', { metadata: { limit: 'a' }, cause: 'password=secret' }),
    { code: 'RESOURCE_EXHAUSTED', message: 'Used', details: { limit: 'a' } },
  ],
])('clients learn of %s what it says only if it is meant for them', (_what, thrown, shown) => {
  expect(failureOf(thrown)).toEqual(shown);
});

it('a failure after several attempts says how many there were, and one after the first says nothing of it', () => {
  expect(withAttempts(processLost, 1)).toBe(processLost);
  expect(withAttempts(processLost, 2)).toEqual({
    ...processLost,
    message: 'The process that worked on the task died (2 attempts)',
    details: { attempts: 2 },
  });
  expect(withAttempts({ ...processLost, details: { limit: 'a' } }, 2).details).toEqual({
    limit: 'a',
    attempts: 2,
  });
});

it('what the server did to a task has a code and a sentence, and may be tried again', () => {
  expect([deadlineExceeded, processLost, serverClosed]).toEqual([
    { code: 'DEADLINE_EXCEEDED', message: 'The task took too long', retryable: true },
    { code: 'PROCESS_LOST', message: 'The process that worked on the task died', retryable: true },
    { code: 'SERVER_CLOSED', message: 'The server closed before the task was done', retryable: true },
  ]);
});

it.each([
  ['fenced', 'The task belongs to another process now'],
  ['canceled', 'The task was canceled'],
  ['deadline', 'The time for the task is over'],
  ['paused', 'The turn is paused until the next try of a step'],
  ['shutdown', 'The server closes'],
] as const)('an agent whose turn is %s is told why, with a code', (halt, message) => {
  expect(because(halt)).toMatchObject({ message, code: halt.toUpperCase() });
});

it('a failure that is tried again is logged once, with its error and not with its event', () => {
  const lines: unknown[] = [];
  const about = { taskId: 't', contextId: 'c', attempt: 2, maxAttempts: 3 };
  logTurnEvent((...line) => lines.push(line), { type: 'failed', ...about });
  expect(lines).toEqual([]);
});

it.each([
  ['taken-over', 'A turn was taken over: the lease of its process expired'],
  ['rerun', 'A turn is run again'],
  ['lost', 'A turn lost its task'],
  ['cancel-forced', 'A canceled agent did not stop in time'],
] as const)('a turn that is %s is a warning in the log, with what is known of it', (type, message) => {
  const lines: unknown[] = [];
  const about = { taskId: 't', contextId: 'c', attempt: 2, maxAttempts: 3 };
  logTurnEvent((...line) => lines.push(line), { type, ...about });
  expect(lines).toEqual([['warn', message, about]]);
});
