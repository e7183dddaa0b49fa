import type { State } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { say } from '../../../../../test/kit/rpc.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import { type Clock, systemClock } from '../../../src/base/timing/clock.ts';
import { decideAll } from '../../../src/log/write/decision.ts';
import { write } from '../../../src/log/write/write.ts';
import { TurnInbox } from '../../../src/turns/inbox.ts';
import type { TaskWriter } from '../../../src/turns/task-writer.ts';
import { liveTasks } from '../../log/kit/live-tasks.ts';

const started = Date.parse('2026-01-01T00:00:00.000Z');

/** The inbox of a turn on a clock that the test moves. */
async function inbox(again: readonly string[] = []) {
  let now = started;
  const sleeping = new Map<() => void, number>();
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    sleep: (ms, signal) =>
      new Promise<void>((resolve) => {
        const done = () => {
          sleeping.delete(done);
          resolve();
        };
        sleeping.set(done, ms);
        signal?.addEventListener('abort', done);
      }),
  };
  const tasks = liveTasks(memoryStore(), { clock });
  const live = tasks.begin('s', 't');
  const commit = (commands: Parameters<typeof decideAll>[1]) =>
    write(live, (state: State | undefined) => decideAll(state, commands, new Date(now).toISOString()));
  const receive = (messageId: string, afterMs?: number) =>
    commit([
      {
        ...{
          type: 'receive',
          message: say('x', { messageId, contextId: 'c', ...(live.known && { taskId: 't' }) }),
        },
        ...(afterMs !== undefined && { notBefore: new Date(now + afterMs).toISOString() }),
      },
    ]);
  await receive('first');
  await commit([{ type: 'create', taskId: 't' }, { type: 'start-turn' }]);
  const over = new AbortController();
  const writer = {
    live,
    get state() {
      return live.state;
    },
    write: (commands: () => Parameters<typeof decideAll>[1]) => commit(commands()),
  } as unknown as TaskWriter;
  const known = again.map((messageId) => ({ type: 'message-received', message: say('x', { messageId }) }));
  return {
    ...{
      inbox: new TurnInbox(writer, over.signal, clock, known as never),
      live,
      over,
      receive,
      sleeping,
      clock,
    },
    pass(ms: number) {
      now += ms;
      for (const done of [...sleeping.keys()]) done();
    },
  };
}

const idOf = async (taken: Promise<{ messageId: string } | undefined>) => (await taken)?.messageId;

it('gives what earlier attempts took first, and then what waits, each once and in order', async () => {
  const { inbox: one, receive, over } = await inbox(['known-1', 'known-2']);
  await receive('a');
  await receive('b');
  expect(one.size).toBe(4);
  const taken = await Promise.all([1, 2, 3, 4].map(() => idOf(one.take())));
  expect([taken, one.size]).toEqual([['known-1', 'known-2', 'a', 'b'], 0]);
  const next = one.take();
  over.abort();
  expect(await next).toBeUndefined();
});

it('waits for a message without a timer, and leaves nothing on the task when it came', async () => {
  const { inbox: one, receive, live, sleeping } = await inbox();
  const before = live.listeners.size;
  const taken = idOf(one.take());
  await eventually(() => expect(live.listeners.size).toBe(before + 1));
  expect(sleeping.size).toBe(0);
  await receive('a');
  expect(await taken).toBe('a');
  expect(live.listeners.size).toBe(before);
});

it('gives a message that was postponed when its time has come, the earliest first, and leaves no timer', async () => {
  const { inbox: one, receive, live, sleeping, pass } = await inbox();
  const before = live.listeners.size;
  await receive('late', 5_000);
  await receive('early', 2_000);
  expect(one.size).toBe(0);
  const taken = idOf(one.take());
  await eventually(() => expect([...sleeping.values()]).toEqual([2_000]));
  pass(2_000);
  expect(await taken).toBe('early');
  expect([live.listeners.size, sleeping.size]).toEqual([before, 0]);
  const next = idOf(one.take());
  await eventually(() => expect([...sleeping.values()]).toEqual([3_000]));
  // One that may be taken at once comes before it.
  await receive('now');
  expect(await next).toBe('now');
  await eventually(() => expect([live.listeners.size, sleeping.size]).toEqual([before, 0]));
});

it('ends with its turn, also while it waits for a time, and leaves nothing', async () => {
  const { inbox: one, receive, live, sleeping, over } = await inbox();
  const before = live.listeners.size;
  await receive('late', 5_000);
  const all: string[] = [];
  const reading = (async () => {
    for await (const { messageId } of one) all.push(messageId);
  })();
  await eventually(() => expect(sleeping.size).toBe(1));
  over.abort();
  await reading;
  expect([all, live.listeners.size, sleeping.size]).toEqual([[], before, 0]);
  expect(await one.take()).toBeUndefined();
});
