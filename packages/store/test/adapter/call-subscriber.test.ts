import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { callSubscriber } from '../../src/adapter/subscribers.ts';

it('what a subscriber throws is an uncaught exception of the process, and does not stop the caller', async () => {
  const others = process.listeners('uncaughtException');
  const uncaught: unknown[] = [];
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => uncaught.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  const error = new Error('of the subscriber');
  callSubscriber(() => {
    throw error;
  });
  expect(uncaught).toEqual([]);
  await endOfTurn();
  expect(uncaught).toEqual([error]);
});
