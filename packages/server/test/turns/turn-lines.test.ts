import { expect, it } from 'vitest';
import { logTurnEvent } from '../../src/turns/turn-event.ts';

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
