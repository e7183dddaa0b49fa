import { getEventListeners } from 'node:events';
import { type Agent, completed, working } from '@batonjs/server';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { testClock } from '@batonjs/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { serve } from '../../../test/kit/serve.ts';
import { send as sendWithWebhook, servePushing } from '../../server/test/webhooks/kit/serve-pushing.ts';
import { webhook } from '../../server/test/webhooks/kit/webhook.ts';

const minute = 60_000;
const immediately = { returnImmediately: true };

/** A clock and what a store needs of it. */
function moved(start?: Date) {
  const clock = testClock(start);
  return { clock, times: { now: clock.now, monotonic: clock.monotonic } };
}

const begin = async (server: ReturnType<typeof serve>): Promise<string> =>
  (await rpc(server, 'SendMessage', { message: say('go'), configuration: immediately })).task.id;

const stateOf = async (server: ReturnType<typeof serve>, id: string): Promise<string> =>
  (await rpc(server, 'GetTask', { id })).status.state.replace('TASK_STATE_', '');

const hangs: Agent = async function* () {
  yield working();
  await new Promise(() => {});
};

describe('the clock of a test', () => {
  it('stands still, and moves by what it is told', async () => {
    const clock = testClock(new Date('2026-01-01T00:00:00Z'));
    expect([clock.now(), clock.monotonic()]).toEqual([Date.UTC(2026, 0, 1), 0]);
    await clock.advance(1_500);
    await clock.advance(0);
    expect([clock.now(), clock.monotonic()]).toEqual([Date.UTC(2026, 0, 1) + 1_500, 1_500]);
  });

  it('starts now, or at a time in milliseconds; and has whole milliseconds', async () => {
    const before = Date.now();
    expect(testClock().now()).toBeGreaterThanOrEqual(before);
    const clock = testClock(7.5);
    await clock.advance(0.25);
    expect([clock.now(), clock.monotonic()]).toEqual([9, 1]);
  });

  it('refuses a time that is none', async () => {
    expect(() => testClock(Number.NaN)).toThrow(RangeError);
    await expect(testClock().advance(-1)).rejects.toThrow(
      new RangeError('Time passes by 0 milliseconds or more'),
    );
    await expect(testClock().advance(Number.NaN)).rejects.toThrow(RangeError);
  });

  it('lets all that is due run at its own moment, in order, with what it starts', async () => {
    const clock = testClock(0);
    const seen: string[] = [];
    const sleeper = async (name: string, ...pauses: readonly number[]) => {
      for (const ms of pauses) {
        await clock.sleep(ms);
        seen.push(`${name} ${clock.now()}`);
      }
    };
    void sleeper('a', 10, 10, 80.5);
    void sleeper('b', 5, 5, 5);
    void sleeper('c', 101);
    await clock.advance(100);
    expect(seen).toEqual(['b 5', 'a 10', 'b 10', 'b 15', 'a 20']);
    await clock.advance(1);
    expect(seen.slice(5)).toEqual(['c 101', 'a 101']);
  });

  it('passes one time after the other where both were asked for at once', async () => {
    const clock = testClock(0);
    const first = clock.advance(10).then(() => clock.now());
    const second = clock.advance(5).then(() => clock.now());
    expect(await Promise.all([first, second])).toEqual([10, 15]);
  });

  it('ends a wait that is aborted, and one of no time, without moving', async () => {
    const clock = testClock(0);
    const stop = new AbortController();
    const waits = [clock.sleep(10, stop.signal), clock.sleep(0), clock.sleep(-1)];
    stop.abort();
    await Promise.all([...waits, clock.sleep(10, stop.signal), clock.sleep(10, AbortSignal.abort())]);
    expect(clock.now()).toBe(0);
  });

  it('leaves no listener behind when a wait is over', async () => {
    const clock = testClock(0);
    const { signal } = new AbortController();
    void clock.sleep(10, signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await clock.advance(10);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('waits for rounds of the event loop that follow each other', async () => {
    const clock = testClock(0);
    const rounds: number[] = [];
    void clock.sleep(1).then(async () => {
      for (let n = 0; n < 20; n++) {
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
        rounds.push(clock.now());
      }
    });
    await clock.advance(60);
    expect(rounds).toEqual(Array(20).fill(1));
  });
});

describe.each([
  ['memory', memoryStore],
  ['SQLite', (times: object) => sqliteStore(':memory:', times)],
])('a server with tasks in %s', (_, store: (times: object) => TaskStore) => {
  function start(agent: Agent, options: Parameters<typeof serve>[1] = {}) {
    const { clock, times } = moved();
    const kept = store(times);
    onTestFinished(() => kept.close());
    const server = serve(agent, { store: kept, clock, ...options });
    return { clock, server, store: kept };
  }

  it('starts a turn when its time has come', async () => {
    let woken = 0;
    const { clock, server } = start(async function* (turn) {
      if (turn.woken) woken++;
      yield working();
      if (woken === 2) yield completed();
      else await turn.wakeAt(clock.now() + minute);
    });
    const id = await begin(server);
    await clock.advance(minute - 1);
    expect(woken).toBe(0);
    // The process asks its store about once a second.
    await clock.advance(1_300);
    expect([woken, await stateOf(server, id)]).toEqual([1, 'WORKING']);
    await clock.advance(minute + 1_300);
    expect([woken, await stateOf(server, id)]).toEqual([2, 'COMPLETED']);
  });

  it('ends a task whose time is over', async () => {
    const { clock, server } = start(hangs, { timeouts: { taskMs: 60_000 } });
    const id = await begin(server);
    await clock.advance(59_999);
    expect(await stateOf(server, id)).toBe('WORKING');
    await clock.advance(1);
    expect(await stateOf(server, id)).toBe('FAILED');
  });

  it('answers a send that blocks for too long', async () => {
    const { clock, server } = start(hangs, { timeouts: { blockingMs: 30_000 } });
    const sent = rpc(server, 'SendMessage', { message: say('go') });
    await clock.advance(30_000);
    expect((await sent).task.status.state).toBe('TASK_STATE_WORKING');
  });

  it('cancels a task whose agent does not notice, after its grace', async () => {
    const { clock, server } = start(hangs, { timeouts: { cancelGraceMs: 4_000 } });
    const id = await begin(server);
    const canceled = rpc(server, 'CancelTask', { id });
    await clock.advance(3_999);
    expect(await stateOf(server, id)).toBe('WORKING');
    await clock.advance(1);
    expect((await canceled).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('takes over a turn when the lease of its process is over', async () => {
    const {
      clock,
      store,
      server: second,
    } = start(
      async function* ({ attempt }) {
        yield completed(`attempt ${attempt}`);
      },
      { restart: 'rerun' },
    );
    let isDead = false;
    const mortal = new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (isDead) throw new StoreError('UNAVAILABLE', 'The process is dead');
          return member.apply(target, args);
        };
      },
    });
    const first = serve(hangs, { store: mortal, clock, restart: 'rerun', timeouts: { leaseMs: 10_000 } });
    const id = await begin(first);
    await clock.advance(60_000);
    expect(await stateOf(second, id)).toBe('WORKING');
    isDead = true;
    await clock.advance(12_000);
    expect(await stateOf(second, id)).toBe('COMPLETED');
    isDead = false;
  });

  it('closes when the grace of its turns is over', async () => {
    const { clock, server, store } = start(hangs);
    const id = await begin(server);
    const closed = server.close({ graceMs: 5_000 });
    await clock.advance(4_999);
    const other = serve(hangs, { store, clock });
    expect(await stateOf(other, id)).toBe('WORKING');
    await clock.advance(1);
    await closed;
    expect(await stateOf(other, id)).toBe('FAILED');
  });
});

describe('a webhook', () => {
  it('is tried again without a wait, on the network too', async () => {
    const hook = await webhook((_, before) => (before < 3 ? 503 : 200));
    const { clock, times } = moved();
    const retry = { baseDelayMs: 1_000, maxDelayMs: 60_000, maxAttempts: 9 };
    const server = servePushing(memoryStore(times), { retry, timeoutMs: 10_000 }, { clock });
    await sendWithWebhook(server, { url: hook.url() });
    await clock.advance(0);
    expect(hook.received).toHaveLength(1);
    await clock.advance((1 + 2 + 4) * 1_000 + 4_000);
    expect(hook.acknowledged.at(-1)).toBe('COMPLETED');
    expect(hook.received).toHaveLength(hook.acknowledged.length + 3);
  });

  it('that does not answer is given up when its time is over', async () => {
    const open: { destroy(): void }[] = [];
    onTestFinished(() => {
      for (const response of open) response.destroy();
    });
    const hook = await webhook(() => (response) => void open.push(response));
    const { clock, times } = moved();
    const retry = { maxAttempts: 1 };
    const server = servePushing(memoryStore(times), { retry, timeoutMs: 10_000 }, { clock });
    await sendWithWebhook(server, { url: hook.url() });
    await clock.advance(10_000);
    expect(await server.push.deadLetters()).toMatchObject([
      { reason: 'no answer within 10000 ms, 1 attempt' },
    ]);
  });
});
