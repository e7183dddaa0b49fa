import { expect, it } from 'vitest';
import { EventStream, type StreamStart } from '../../src/log/event-stream.ts';

/** A stream whose opening the test ends. */
function opening() {
  const calls: string[] = [];
  const opened = Promise.withResolvers<StreamStart>();
  const stream = new EventStream(() => {
    calls.push('open');
    return opened.promise;
  });
  const start = { leave: () => calls.push('leave') } as unknown as StreamStart;
  return { stream, calls, open: () => opened.resolve(start), fail: opened.reject };
}

it('a stream that is closed before it was read opens nothing, and is over', async () => {
  const { stream, calls } = opening();
  stream.close();
  stream.close();
  expect(calls).toEqual([]);
});

it('a stream that is closed while it opens is over at once, and leaves when it has opened', async () => {
  const { stream, calls, open } = opening();
  const next = stream.next();
  stream.close();
  expect([await next, await stream.next(), calls]).toEqual([undefined, undefined, ['open']]);
  open();
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toEqual(['open', 'leave']);
});

it('a stream that cannot be opened rejects once, and is over then', async () => {
  const { stream, fail } = opening();
  const next = stream.next();
  const error = new Error('away');
  fail(error);
  await expect(next).rejects.toBe(error);
  expect(await stream.next()).toBeUndefined();
});
