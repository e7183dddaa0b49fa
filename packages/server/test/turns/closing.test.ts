import { setTimeout as sleep } from 'node:timers/promises';
import { type Commit, StoreError } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { systemClock } from '../../src/base/timing/clock.ts';
import {
  type Agent,
  type AgentServer,
  completed,
  inputRequired,
  taskAgent,
  working,
} from '../../src/index.ts';

/** What becomes of requests that are under way in the store when their server closes. */

const now = { returnImmediately: true };

/** One call of a store, which waits until it is let go. */
function held() {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const wait = () => {
    reached.resolve();
    return gate.promise;
  };
  return { wait, reached: reached.promise, letGo: gate.resolve };
}

const startsTurn = ({ turn }: Commit): boolean => turn?.acquire !== undefined;

/** Completes its task, or asks. */
async function* answer(text: string) {
  yield text === 'ask' ? inputRequired('Well?') : completed();
}

/** An agent, and the servers on which it was called, even if nothing was read of what it answers. */
function noting() {
  const called: string[] = [];
  const on = (name: string): Agent =>
    taskAgent(({ text }) => {
      called.push(name);
      return answer(text);
    });
  return { called, on };
}

/** Closes the server. `isOver` is asked after enough rounds for a close that waits for nothing. */
function close(server: AgentServer, graceMs: number) {
  let isClosed = false;
  const over = server.close({ graceMs }).then(() => {
    isClosed = true;
  });
  const isOver = async () => {
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
    return isClosed;
  };
  return { over, isOver };
}

describe('a message whose first commit is under way when its server closes', () => {
  const holding = (wait: () => Promise<void>) => {
    const memory = memoryStore();
    const store = change(memory, {
      commit: (original) => async (one) => {
        if (startsTurn(one)) await wait();
        return original(one);
      },
    });
    return { memory, store };
  };

  it('gets its turn in the time that running turns are given, and the close waits for it', async () => {
    const { wait, reached, letGo } = held();
    const { called, on } = noting();
    const { store } = holding(wait);
    const server = serve(on('first'), { store });
    const sent = rpc(server, 'SendMessage', { message: say('go') });
    await reached;
    const closing = close(server, 600_000);
    expect(await closing.isOver()).toBe(false);
    letGo();
    await closing.over;
    expect([called, server.load.turns]).toEqual([['first'], 0]);
    expect((await sent).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it.each([
    ['fail', 'FAILED', []],
    ['rerun', 'COMPLETED', ['second']],
  ] as const)(
    'after that time calls no agent there (restart: %s): the task is %s',
    async (restart, state, expected) => {
      const { wait, reached, letGo } = held();
      const { called, on } = noting();
      const { memory, store } = holding(wait);
      const graceMs = 599_999;
      const grace = Promise.withResolvers<void>();
      const sleep: typeof systemClock.sleep = (ms, signal) =>
        ms === graceMs ? grace.promise : systemClock.sleep(ms, signal);
      const server = serve(on('first'), { store, restart, timeouts: { leaseMs: 600_000 }, clock: { sleep } });
      const sent = rpc(server, 'SendMessage', { message: say('go'), configuration: now });
      await reached;
      const closing = close(server, graceMs);
      grace.resolve();
      expect(await closing.isOver()).toBe(false);
      letGo();
      await closing.over;
      const { task } = await sent;
      await until(serve(on('second'), { store: memory, restart }), task.id, state);
      expect(called).toEqual(expected);
    },
  );
});

it.each([
  [
    'an answer',
    'SendMessage',
    (taskId: string) => ({ message: say('go', { taskId }), configuration: now }),
    'COMPLETED',
    ['first', 'second'],
  ],
  ['a cancel', 'CancelTask', (id: string) => ({ id }), 'CANCELED', ['first']],
])(
  'a task that is claimed for %s while its server closes is left to another process, at once',
  async (_, method, params, state, expected) => {
    const memory = memoryStore();
    const { wait, reached, letGo } = held();
    const { called, on } = noting();
    const store = change(memory, {
      claim: (claim) => async (request) => {
        if (!request.task) return [];
        const leases = await claim(request);
        await wait();
        return leases;
      },
    });
    const server = serve(on('first'), { store, timeouts: { leaseMs: 600_000 } });
    const { task } = await rpc(server, 'SendMessage', { message: say('ask') });
    const sent = rpc(server, method, params(task.id));
    await reached;
    const closing = close(server, 0);
    expect(await closing.isOver()).toBe(false);
    letGo();
    await closing.over;
    await sent;
    await until(serve(on('second'), { store: memory }), task.id, state);
    expect(called).toEqual(expected);
  },
);

it('a stream that is opened while its server closes ends, with the task as it is', async () => {
  const memory = memoryStore();
  const { on } = noting();
  const { task } = await rpc(serve(on('first'), { store: memory }), 'SendMessage', { message: say('ask') });
  const { wait, reached, letGo } = held();
  const store = change(memory, {
    load:
      (load) =>
      async (...args) => {
        if (args[1] === task.id) await wait();
        return load(...args);
      },
  });
  const server = serve(on('second'), { store });
  const seen = collect(stream(server, 'SubscribeToTask', { id: task.id }));
  await reached;
  await server.close({ graceMs: 0 });
  letGo();
  expect(await seen).toEqual(['task INPUT_REQUIRED']);
});

describe('a server that closes while its store does not answer', () => {
  it('waits for all that it asks at once, and asks no more when it has given up', async () => {
    const asked: string[] = [];
    let hangs: Promise<never> | undefined;
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    const hanging = <T>(name: string, act: () => T) => {
      if (!hangs) return act();
      asked.push(name);
      return hangs;
    };
    const store = new Proxy(memoryStore(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) =>
          hanging(String(name), async () => {
            const answer = await member.apply(target, args);
            return name === 'subscribe' ? () => hanging('unsubscribe', answer) : answer;
          });
      },
    });
    const agent: Agent = async function* () {
      yield working();
      await new Promise(() => {});
    };
    const leaseMs = 300;
    const server = serve(agent, { store, timeouts: { storeMs: 60_000, leaseMs } });
    await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    await vi.waitFor(() => expect(server.load.turns).toBe(1));
    hangs = over.promise;
    const closing = server.close({ graceMs: 0 });
    await vi.waitFor(() => expect(asked).toEqual(expect.arrayContaining(['commit', 'unsubscribe'])));
    // Another process may have the task by now: whether the commit was stored is for the log to say.
    await sleep(leaseMs);
    over.reject(new StoreError('UNAVAILABLE', 'The store is away'));
    await closing;
    expect(asked.filter((name) => name === 'readFacts')).toEqual([]);
  });
});
