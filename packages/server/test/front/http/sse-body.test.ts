import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/timing/clock.ts';
import { streamBody } from '../../../src/front/http/sse-body.ts';
import type { EventBatch } from '../../../src/log/event-stream.ts';

type Given = EventBatch | undefined | Error;

/** A clock that stands still until it is told to go on. */
function stoppedClock() {
  let time = 0;
  const sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  const sleep = (ms: number) => new Promise<void>((wake) => void sleepers.push({ until: time + ms, wake }));
  return {
    clock: { ...systemClock, monotonic: () => time, sleep },
    async pass(ms: number) {
      time += ms;
      for (const sleeper of sleepers.splice(0))
        if (sleeper.until <= time) sleeper.wake();
        else sleepers.push(sleeper);
      await new Promise(setImmediate);
    },
  };
}

const batch = (...values: string[]): EventBatch =>
  ({
    events: values.map((value) => ({ id: `${value}1`, event: { value }, isLast: value === 'end' })),
    isLast: false,
  }) as never;

/** A stream that gives what `give` is called with. */
function open(first: EventBatch | undefined, { clock, pass } = stoppedClock()) {
  const waiting: { resolve: (given: EventBatch | undefined) => void; reject: (error: Error) => void }[] = [];
  const seen = { reads: 0, closed: 0 };
  const body = streamBody({
    ...{ first, clock, heartbeatMs: 15_000, call: {} as never, onError: (error: unknown) => error as never },
    stream: {
      next: () => {
        seen.reads++;
        return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
      },
      close: () => void seen.closed++,
    },
    binding: {
      streamErrorEvent: 'error',
      encodeStream: () => ({
        event: ({ value }: { value: unknown }, isLast?: boolean) => {
          if (value === 'bad') throw new Error('cannot be written');
          return isLast ? `${value}!` : String(value);
        },
        error: (error: Error) => error.message,
      }),
    } as never,
  });
  const give = async (given: Given) => {
    const reader = waiting.shift()!;
    if (given instanceof Error) reader.reject(given);
    else reader.resolve(given);
    await new Promise(setImmediate);
  };
  return { body, give, pass, seen };
}

const done = { done: true, value: undefined };
const text = (value: string) => ({ done: false, value });
const ping = ': ping\n\n';
const sse = (value: string) => `id: ${value}1\ndata: ${value}\n\n`;
const failure = 'event: error\ndata: broken\n\n';

describe('the body of a stream', () => {
  it('has the first events at once, as one text, and then what comes', async () => {
    const { body, give, seen } = open(batch('a', 'b'));
    expect(body[Symbol.asyncIterator]()).toBe(body);
    expect(await body.next()).toEqual(text(sse('a') + sse('b')));
    expect(seen.reads).toBe(0);
    const next = body.next();
    expect(seen.reads).toBe(1);
    await give(batch('end'));
    expect(await next).toEqual(text('id: end1\ndata: end!\n\n'));
    const last = body.next();
    await give(undefined);
    expect([await last, await body.next(), seen]).toEqual([done, done, { reads: 2, closed: 1 }]);
  });

  it('begins with a comment where there are no events yet, and ends at once where there is no stream', async () => {
    const { body, give } = open(batch());
    expect(await body.next()).toEqual(text(ping));
    const next = body.next();
    await give(batch('a'));
    expect(await next).toEqual(text(sse('a')));
    const ended = open(undefined);
    expect([await ended.body.next(), ended.seen.closed]).toEqual([done, 1]);
  });

  it('is given in pieces of about 64 kB', async () => {
    // With its id, 40 kB.
    const long = 'x'.repeat(20_000);
    const { body, seen } = open(batch(long, long, 'a'));
    expect(await body.next()).toEqual(text(sse(long) + sse(long)));
    expect(await body.next()).toEqual(text(sse('a')));
    expect(seen.reads).toBe(0);
  });

  it('has a comment every 15 s in which its reader waits for nothing', async () => {
    const { body, give, pass, seen } = open(batch('a'));
    await body.next();
    let next = body.next();
    await pass(14_999);
    await pass(1);
    expect(await next).toEqual(text(ping));
    // Nobody waits: the comment would only pile up.
    await pass(15_000);
    next = body.next();
    await give(batch('b'));
    expect(await next).toEqual(text(sse('b')));
    next = body.next();
    await pass(15_000);
    expect([await next, seen.reads]).toEqual([text(ping), 2]);
  });

  it('has no comment before 15 s', async () => {
    const { body, pass } = open(batch('a'));
    await body.next();
    let isThere = false;
    void body.next().then(() => {
      isThere = true;
    });
    await pass(14_999);
    expect(isThere).toBe(false);
    await pass(1);
    expect(isThere).toBe(true);
  });

  it.each([
    ['that fails while it is read', new Error('broken')],
    ['whose reader waits', new Error('broken')],
  ])('%s ends with the error as its last event', async (_, error) => {
    const { body, give, seen } = open(batch('a'));
    await body.next();
    const next = body.next();
    await give(error);
    expect([await next, await body.next(), seen]).toEqual([text(failure), done, { reads: 1, closed: 1 }]);
  });

  it('with an event that cannot be written ends with that error, after the events before', async () => {
    const { body, seen } = open(batch('a', 'bad', 'b'));
    const written = sse('a') + failure.replace('broken', 'cannot be written');
    expect([await body.next(), await body.next(), seen.closed]).toEqual([text(written), done, 1]);
  });

  it('is left when its reader returns: nothing is read any more, no comment comes, and an error is dropped', async () => {
    const { body, give, pass, seen } = open(batch('a'));
    await body.next();
    const next = body.next();
    expect(await body.return!()).toEqual(done);
    await pass(20_000);
    await give(new Error('broken'));
    expect([await next, await body.next(), seen]).toEqual([done, done, { reads: 1, closed: 1 }]);
    await body.return!();
    expect(seen.closed).toBe(1);
  });

  it('drops events that come after it was left', async () => {
    const { body, give } = open(batch('a'));
    await body.next();
    const next = body.next();
    await body.return!();
    await give(batch('b'));
    expect([await next, await body.next()]).toEqual([done, done]);
  });
});
