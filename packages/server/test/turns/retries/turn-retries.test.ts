import type { Fact } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { passableClock } from '../../../../../test/kit/passable-clock.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  completed,
  inputRequired,
  NonRetryableError,
  reply,
  working,
} from '../../../src/index.ts';
import type { TurnEvent } from '../../../src/turns/turn-dependencies.ts';

const soon = { initialMs: 0, jitter: 0 } as const;
const late = { initialMs: 600_000, factor: 1, maxMs: 600_000, jitter: 0 } as const;

/** A clock that can be moved on, and a store that goes by it. */
function passableStore() {
  const { clock, pass } = passableClock();
  return { store: memoryStore({ now: clock.now }), clock, pass };
}

type Store = ReturnType<typeof memoryStore>;

const start = async (server: AgentServer, more: object = {}): Promise<string> => {
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say('go', more), configuration });
  return task.id;
};

const factsOf = async (store: Store, id: string): Promise<readonly Fact[]> =>
  (await store.readFacts(scope, id, 0, 1_000)).map(({ fact }) => fact);

const count = async (store: Store, id: string, type: Fact['type']) =>
  (await factsOf(store, id)).filter((fact) => fact.type === type).length;

/** An agent that throws so often, then completes. */
function throwing(times: number, error: () => unknown = () => new Error('Busy: token=secret')) {
  const attempts: number[] = [];
  const agent: Agent = async function* ({ attempt }) {
    attempts.push(attempt);
    yield working();
    if (attempts.length <= times) throw error();
    yield completed(`done in ${attempt}`);
  };
  return { agent, attempts };
}

describe('an agent that throws', () => {
  it('is run again, as often as `retry` says, and its task stays WORKING', async () => {
    const store = memoryStore();
    const { agent, attempts } = throwing(2);
    const events: TurnEvent[] = [];
    const server = serve(agent, {
      store,
      retry: { retries: 2, backoff: soon },
      onEvent: (event) => 'attempt' in event && events.push(event),
    });
    const id = await start(server);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 3' }]);
    expect(attempts).toEqual([1, 2, 3]);
    const facts = await factsOf(store, id);
    const states = facts.flatMap((fact) => (fact.type === 'status-changed' ? [fact.status.state] : []));
    expect(new Set(states)).toEqual(new Set(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']));
    expect(facts.filter(({ type }) => type === 'turn-failed')).toMatchObject([
      {
        turn: 1,
        attempt: 1,
        message: 'Busy: token=secret',
        stack: expect.stringContaining('turn-retries.test'),
      },
      { turn: 1, attempt: 2, retryAt: expect.any(String) },
    ]);
    expect(events.map(({ type, attempt, maxAttempts }) => [type, attempt, maxAttempts])).toEqual([
      ['failed', 1, 3],
      ['failed', 2, 3],
    ]);
  });

  it('fails its task after the last attempt, which says how many there were and nothing else', async () => {
    const store = memoryStore();
    const server = serve(throwing(9).agent, { store, retry: { retries: 2, backoff: soon } });
    const id = await start(server);
    const { status } = await until(server, id, 'FAILED');
    expect(status.message?.parts).toEqual([
      { text: 'The agent failed (3 attempts)' },
      {
        data: { code: 'AGENT_FAILED', message: 'The agent failed (3 attempts)', details: { attempts: 3 } },
        mediaType: 'application/json',
      },
    ]);
    const task = await rpc(server, 'GetTask', { id });
    expect(JSON.stringify(task)).not.toContain('secret');
    const [last, ended, status_] = (await factsOf(store, id)).slice(-3);
    expect(last).toMatchObject({ type: 'turn-failed', attempt: 3, message: 'Busy: token=secret' });
    expect(last).not.toHaveProperty('retryAt');
    expect([ended?.type, status_?.type]).toEqual(['turn-ended', 'status-changed']);
  });

  it('leaves why it failed for operators, also without `retry`, in the commit of the failure', async () => {
    const store = memoryStore();
    const error = Object.assign(new Error('Broken'), { code: 'E_BROKEN' });
    const server = serve(throwing(1, () => error).agent, { store });
    const id = await start(server);
    const { status } = await until(server, id, 'FAILED');
    expect(status.message?.parts[0]).toEqual({ text: 'The agent failed' });
    const stored = await store.readFacts(scope, id, 0, 100);
    const failed = stored.find(({ fact }) => fact.type === 'turn-failed');
    expect(failed?.fact).toMatchObject({ message: 'Broken', code: 'E_BROKEN', stack: error.stack });
    expect(stored.at(-1)?.commitId).toBe(failed?.commitId);
  });

  it('shows its task as WORKING, with the words of the agent if it said some', async () => {
    const { store, clock } = passableStore();
    const server = serve(
      async function* ({ attempt, text }) {
        if (text === 'go' && attempt === 1) yield working('The model is busy: trying again soon');
        throw new Error('Busy');
      },
      { store, clock, retry: { retries: 1, backoff: late } },
    );
    const id = await start(server);
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(1));
    const task = await until(server, id, 'WORKING');
    expect(task.status.message?.parts).toEqual([{ text: 'The model is busy: trying again soon' }]);
  });

  it('shows its task as WORKING also if it threw before it said anything, and a log becomes a task then', async () => {
    const busy = () => Promise.reject(new Error('Busy'));
    for (const agent of [
      async function* () {
        yield await busy();
      },
      busy,
    ] as Agent[]) {
      const { store, clock } = passableStore();
      const server = serve(agent, {
        store,
        clock,
        timeouts: { blockingMs: 200 },
        retry: { retries: 1, backoff: late },
      });
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      await until(server, task.id, 'WORKING');
      expect(await count(store, task.id, 'turn-failed')).toBe(1);
    }
  });

  it('answers with a message in a later attempt with the words of that message', async () => {
    let calls = 0;
    const server = serve(
      async () => {
        if (++calls === 1) throw new Error('Busy');
        return reply('Here');
      },
      { retry: { retries: 1, backoff: soon } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { parts: [{ text: 'Here' }] },
    });
  });

  it('is not run again for errors that no attempt would mend, and those that `retryIf` does not want', async () => {
    for (const [error, retryIf] of [
      [new NonRetryableError('No'), undefined],
      [new A2AError('INVALID_PARAMS', 'The order has no number'), undefined],
      [new Error('No'), () => false],
    ] as const) {
      const { agent, attempts } = throwing(9, () => error);
      const server = serve(agent, { retry: { retries: 3, backoff: soon, ...(retryIf && { retryIf }) } });
      await until(server, await start(server), 'FAILED');
      expect(attempts).toEqual([1]);
    }
  });

  it('that ends without a word about its task is not run again', async () => {
    let calls = 0;
    const server = serve(
      async function* () {
        calls++;
        yield working();
      },
      { retry: { retries: 3, backoff: soon } },
    );
    await until(server, await start(server), 'FAILED');
    expect(calls).toBe(1);
  });

  it('waits as long as its error says', async () => {
    const { store, clock, pass } = passableStore();
    const { agent } = throwing(1, () =>
      Object.assign(new Error('429'), { headers: { 'retry-after': '300' } }),
    );
    const server = serve(agent, { store, clock, retry: { retries: 1, backoff: soon } });
    const id = await start(server);
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(1));
    await eventually(() => expect(server.load.turns).toBe(0));
    pass(301_000);
    await until(server, id, 'COMPLETED');
  });

  it('starts with the results of its steps, and tries those again that failed for good', async () => {
    const runs: string[] = [];
    const server = serve(
      async function* ({ step }) {
        yield working();
        await step('paid', () => void runs.push('paid'));
        await step('call', { retries: 1, backoff: { initialMs: 0 } }, ({ attempt }) => {
          runs.push(`call ${attempt}`);
          if (runs.length < 4) throw new Error('Busy');
        });
        yield completed();
      },
      { retry: { retries: 1, backoff: soon } },
    );
    await until(server, await start(server), 'COMPLETED');
    expect(runs).toEqual(['paid', 'call 1', 'call 2', 'call 1']);
  });

  it('begins to count from zero in the next turn, and a question is no failure', async () => {
    const store = memoryStore();
    let thrown = 0;
    const server = serve(
      async function* ({ text, attempt }) {
        yield working();
        if (attempt === 1) {
          thrown++;
          throw new Error('Busy');
        }
        if (text === 'go') return yield inputRequired('And?');
        yield completed();
      },
      { store, retry: { retries: 1, backoff: soon } },
    );
    const id = await start(server);
    await until(server, id, 'INPUT_REQUIRED');
    await rpc(server, 'SendMessage', { message: say('more', { taskId: id }) });
    await until(server, id, 'COMPLETED');
    expect(thrown).toBe(2);
    expect(await count(store, id, 'turn-failed')).toBe(2);
  });
});

describe('a turn that waits for its next attempt', () => {
  const waiting = async (options: object = {}, times = 1) => {
    const { store, clock, pass } = passableStore();
    const { agent, attempts } = throwing(times);
    const server = serve(agent, { store, clock, retry: { retries: 3, backoff: late }, ...options });
    const id = await start(server);
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(1));
    await eventually(() => expect(server.load.turns).toBe(0));
    return { store, clock, pass, server, id, attempts };
  };

  it('ends at once when its task is canceled', async () => {
    const { server, id, store } = await waiting();
    const task = await rpc(server, 'CancelTask', { id });
    expect(task.status.state).toBe('TASK_STATE_CANCELED');
    expect(await count(store, id, 'turn-started')).toBe(1);
  });

  it('ends at once when its task is canceled where other turns take every place', async () => {
    const { store } = passableStore();
    const server = serve(
      async function* ({ text, signal }) {
        yield working();
        if (text === 'go') throw new Error('Busy');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
      { store, retry: { retries: 1, backoff: late }, queue: { concurrency: 1 } },
    );
    const id = await start(server);
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(1));
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('hang'), configuration });
    await until(server, task.id, 'WORKING');
    const canceled = await rpc(server, 'CancelTask', { id });
    expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
    await rpc(server, 'CancelTask', { id: task.id });
  });

  it('is not started early by messages, nor by a program that wakes it', async () => {
    const { server, id, store, pass } = await waiting();
    const message = say('more', { taskId: id });
    await rpc(server, 'SendMessage', { message, configuration: { returnImmediately: true } });
    await eventually(() => expect(server.load.turns).toBe(0));
    expect(await count(store, id, 'turn-started')).toBe(1);
    pass(600_001);
    await until(server, id, 'COMPLETED');
    expect(await count(store, id, 'turn-started')).toBe(2);
  });

  it('goes on in another process, also after the first one closed', async () => {
    const { server, id, store, clock, pass } = await waiting();
    await server.close({ graceMs: 0 });
    const other = serve(throwing(0).agent, { store, clock });
    pass(600_001);
    const { status } = await until(other, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 2' }]);
  });

  it('ends when the time of its task is over, which says how often its agent threw', async () => {
    const { server, id, store, pass } = await waiting({ timeouts: { taskMs: 1_000_000 } }, 2);
    pass(600_001);
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(2));
    pass(500_000);
    const { status } = await until(server, id, 'FAILED');
    expect(status.message?.parts[0]).toEqual({ text: 'The task took too long (2 attempts)' });
  });

  it('leaves its place in the schedule to other tasks of its caller', async () => {
    const { store, clock } = passableStore();
    const server = serve(
      async function* ({ text }) {
        yield working();
        if (text === 'go') throw new Error('Poisoned');
        yield completed();
      },
      {
        store,
        clock,
        retry: { retries: 5, backoff: late },
        queue: { concurrency: 1, perCaller: 1, perContext: 1 },
      },
    );
    const id = await start(server, { contextId: 'one' });
    await eventually(async () => expect(await count(store, id, 'turn-failed')).toBe(1));
    const configuration = { returnImmediately: true };
    const message = say('fine', { contextId: 'one' });
    const { task } = await rpc(server, 'SendMessage', { message, configuration });
    await until(server, task.id, 'COMPLETED');
    await until(server, id, 'WORKING');
  });

  it('has not used up the attempts after a crash', async () => {
    const { store, clock, pass } = passableStore();
    const hanging: Agent = async function* ({ attempt }) {
      yield working();
      if (attempt < 4) throw new Error('Busy');
      yield completed(`done in ${attempt}`);
    };
    const options = {
      store,
      clock,
      restart: 'rerun',
      maxAttempts: 1,
      retry: { retries: 9, backoff: soon },
    } as const;
    const server = serve(hanging, options);
    const { status } = await until(server, await start(server), 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done in 4' }]);
    pass(0);
  });
});
