import type { Message } from '@batonjs/protocol';
import {
  type Agent,
  append,
  artifact,
  authRequired,
  completed,
  createAgentServer,
  inputRequired,
  reply,
  type TaskUpdate,
  type Turn,
  taskAgent,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { type RunTurnOptions, runTurn } from '@batonjs/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { rpc, say } from '../../../test/kit/rpc.ts';

/** What the server makes of an agent: the state of its task and the error that it logged. */
async function served(agent: Agent) {
  const errors: unknown[] = [];
  const server = createAgentServer({
    card: { name: 'Test', description: 'For tests' },
    store: memoryStore(),
    agent,
    logger: (_level, _message, details) => errors.push(details.err),
  });
  const { task } = await rpc(server, 'SendMessage', { message: say('Hello') });
  await server.close();
  return { state: task?.status.state, error: errors[0] };
}

describe('a step of runTurn is a step of the server', () => {
  const date = new Date(0);

  it('gives and keeps what JSON makes of a result', async () => {
    const { steps } = await runTurn(async function* ({ step }) {
      expect(await step('date', () => ({ date, none: undefined, run() {} }))).toEqual({
        date: '1970-01-01T00:00:00.000Z',
      });
      expect(await step('nothing', () => {})).toBeNull();
      yield completed();
    }, 'Hello');
    expect(steps).toEqual({ date: { date: '1970-01-01T00:00:00.000Z' }, nothing: null });
  });

  it('returns what an earlier attempt completed', async () => {
    const steps = { rate: 2 };
    const { updates } = await runTurn(
      async function* ({ attempt, step }) {
        yield completed(`${attempt} ${await step('rate', () => 3)}`);
      },
      'Hello',
      { attempt: 2, steps },
    );
    expect(updates).toMatchObject([{ status: { message: { parts: [{ text: '2 2' }] } } }]);
  });

  it.each<[string, (turn: Turn) => Promise<unknown>, RegExp]>([
    ['a repeated name', ({ step }) => step('a', () => 1).then(() => step('a', () => 2)), /"a" was used/],
    ['a bigint', ({ step }) => step('a', () => 1n), /"a" is not JSON/],
    ['a function', ({ step }) => step('a', () => () => {}), /"a" is not JSON/],
    [
      'a cycle',
      ({ step }) =>
        step('a', () => {
          const cyclic: { next?: unknown } = {};
          cyclic.next = cyclic;
          return cyclic;
        }),
      /"a" is not JSON/,
    ],
  ])('refuses %s, here and there', async (_what, work, message) => {
    const agent: Agent = async function* (turn) {
      await work(turn);
      yield completed();
    };
    await expect(runTurn(agent, 'Hello')).rejects.toThrow(message);
    const { state, error } = await served(agent);
    expect(state).toBe('TASK_STATE_FAILED');
    expect(String(error)).toMatch(message);
  });

  it('has the type of what JSON keeps', () => {
    interface Booking {
      readonly code: string;
      readonly at: Date;
      readonly seats?: number;
      readonly tags: readonly (string | undefined)[];
      cancel(): void;
    }
    const steps = (step: Turn['step']) => ({
      booking: step('a', async (): Promise<Booking | undefined> => undefined),
      nothing: step('b', () => {}),
      big: step('c', () => 1n),
      whatever: step('d', (): unknown => 1),
      pair: step('e', (): [number, Date] => [1, date]),
    });
    type Steps = ReturnType<typeof steps>;
    interface Kept {
      readonly code: string;
      readonly at: string;
      readonly seats?: number;
      readonly tags: readonly (string | null)[];
    }
    expectTypeOf<Awaited<Steps['booking']>>().toExtend<Kept | null>();
    expectTypeOf<Kept | null>().toExtend<Awaited<Steps['booking']>>();
    expectTypeOf<Steps['nothing']>().toEqualTypeOf<Promise<null>>();
    expectTypeOf<Steps['big']>().toEqualTypeOf<Promise<never>>();
    expectTypeOf<Steps['whatever']>().toEqualTypeOf<Promise<unknown>>();
    expectTypeOf<Steps['pair']>().toEqualTypeOf<Promise<[number, string]>>();
  });
});

describe('the turn of runTurn', () => {
  it('runs no step after it was stopped', async () => {
    const stop = new AbortController();
    const agent: Agent = async function* ({ step }) {
      stop.abort(new Error('Enough'));
      await step('a', () => 1);
      yield completed();
    };
    await expect(runTurn(agent, 'Hello', { signal: stop.signal })).rejects.toThrow('Enough');
  });

  const seenBy = async (...given: [content: Parameters<typeof runTurn>[1], options?: RunTurnOptions]) => {
    let seen: object | undefined;
    await runTurn(
      async function* (turn) {
        const { context, references, caller, metadata, extensions, acceptedOutputModes, woken, attempt } =
          turn;
        const { id, tasks, messages } = context;
        const read = [await tasks(), await messages(), await references()] as const;
        const waiting = turn.inbox.size;
        const inbox: Message[] = [];
        for await (const next of turn.inbox) inbox.push(next);
        seen = {
          ...{ id, read, caller, metadata, extensions, acceptedOutputModes, woken, attempt },
          ...{ taskId: turn.taskId, contextId: turn.contextId, values: turn.values, text: turn.text },
          ...{ messages: turn.messages.map(({ messageId }) => messageId), waiting, inbox },
          children: turn.children,
        };
        yield completed();
      },
      ...given,
    );
    return seen;
  };
  const message = (id: string, more: object = {}) => ({
    ...{ messageId: id, role: 'ROLE_USER' as const, parts: [{ data: { [id]: 1 } }], ...more },
  });
  const empty = {
    ...{ id: 'context', contextId: 'context', taskId: 'task', children: {}, text: '', waiting: 0, inbox: [] },
    ...{ caller: {}, metadata: {}, extensions: [], acceptedOutputModes: [], woken: false, attempt: 1 },
  };

  it('has what it is given, and else what a first turn has', async () => {
    expect(await seenBy(message('m', { referenceTaskIds: ['r'] }))).toEqual({
      ...empty,
      read: [[], [], { tasks: [], artifacts: [], missing: ['r'] }],
      messages: ['m'],
      values: { m: 1 },
    });
    expect(await seenBy(message('m'))).toMatchObject({ read: [[], [], { missing: [] }] });
    const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' as const } };
    const given = {
      caller: { sub: 'ada' },
      metadata: { a: 1 },
      extensions: ['e'],
      acceptedOutputModes: ['text/plain'],
      woken: true,
      attempt: 2,
    };
    const rest = {
      task,
      messages: [message('before')],
      inbox: [message('later')],
      contextTasks: [task],
      references: { tasks: [task] },
    };
    expect(await seenBy(message('m', { referenceTaskIds: ['r'] }), { ...given, ...rest })).toEqual({
      ...{ ...empty, ...given, id: 'c', contextId: 'c', taskId: 't' },
      read: [[task], [], { tasks: [task], artifacts: [], missing: [] }],
      messages: ['before', 'm'],
      values: { before: 1, m: 1 },
      waiting: 1,
      inbox: rest.inbox,
    });
    expect(await seenBy('a', { contextId: 'other' })).toMatchObject({ contextId: 'other' });
    const children = {
      leaf: { agent: 'Leaf', taskId: 'there', record: { secret: 1 } },
      other: { agent: 'Other' },
    };
    expect(await seenBy('a', { children })).toMatchObject({ children, taskId: 'task', attempt: 1 });
  });
});

describe('what the server refuses, runTurn refuses', () => {
  const updatesOf = (...updates: readonly unknown[]): Agent =>
    async function* () {
      for (const update of updates) yield update as TaskUpdate;
    };

  it.each<[string, Agent, RegExp]>([
    [
      'a string as the answer',
      (() => 'hi') as never,
      /returned a string; it returns a message, such as reply/,
    ],
    ['nothing as the answer', (() => {}) as never, /returned undefined/],
    ['null as the answer', (() => null) as never, /returned null/],
    ['a list as the answer', (() => [completed()]) as never, /returned an array/],
    ['an update as the answer', (() => completed()) as never, /returned a single update/],
    ['a part as the answer', (() => ({ text: 'hi' })) as never, /returned a part/],
    ['a function as the answer', (() => () => reply('hi')) as never, /returned a function/],
    [
      'something else as the answer',
      (() => ({ secret: 'x' })) as never,
      /returned an object of another kind/,
    ],
    [
      'a synchronous generator',
      function* () {
        yield completed();
      } as never,
      /returned a synchronous generator.*is `async` missing/,
    ],
    ['a string as an update', updatesOf('hi'), /yielded a string; an update has a status or an artifact/],
    ['nothing as an update', updatesOf(undefined), /yielded undefined/],
    ['a message as an update', updatesOf(reply('hi')), /yielded a message/],
    ['a task as an update', updatesOf({ id: 'a', status: {}, artifact: {} }), /yielded an object with both/],
    [
      'a generator as an update',
      updatesOf(updatesOf()({} as Turn)),
      /yielded an async iterable.*`yield\*` missing/,
    ],
    ['text for an unknown artifact', updatesOf(append('none', 'x')), /no artifact "none"/],
    ['parts that are no array', updatesOf({ artifact: { parts: 'x' } }), /`parts` is an array/],
    ['an end without an end', updatesOf(working()), /ended without saying how the task ended/],
  ])('%s', async (_what, agent, message) => {
    await expect(runTurn(agent, 'Hello')).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      message: expect.stringMatching(message),
    });
    const { state, error } = await served(taskAgent(agent as never));
    expect(state).toBe('TASK_STATE_FAILED');
    expect(error).toMatchObject({ message: expect.stringMatching(message) });
  });

  it('at the yield, where the agent can catch it', async () => {
    const { updates } = await runTurn(async function* () {
      try {
        yield append('none', 'x');
      } catch {
        yield completed('Caught');
      }
    }, 'Hello');
    expect(updates).toMatchObject([{ status: { message: { parts: [{ text: 'Caught' }] } } }]);
  });

  it('by ending the turn with the task or with a question', async () => {
    for (const last of [completed(), inputRequired('Well?')]) {
      let cleaned = false;
      const { updates } = await runTurn(async function* () {
        try {
          yield last;
          yield working('Never');
        } finally {
          cleaned = true;
        }
      }, 'Hello');
      expect(updates).toEqual([last]);
      expect(cleaned).toBe(true);
    }
  });
});

it('goes on with a task that was there before', async () => {
  const task = {
    id: 't',
    contextId: 'c',
    status: { state: 'TASK_STATE_INPUT_REQUIRED' as const },
    artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
  };
  const agent: Agent = async function* () {
    yield append('a', 'y');
    yield artifact('b', 'z');
    yield authRequired('Sign in');
  };
  expect((await runTurn(agent, 'Hello', { task })).updates).toHaveLength(3);
  await expect(runTurn(() => reply('hi'), 'Hello', { task })).rejects.toThrow('answered with updates');
});

describe('what the agent keeps', () => {
  it('is there as it was given, and is returned as the turn leaves it', async () => {
    const agent: Agent = async function* ({ memory, step }) {
      const plan = await step('plan', { keep: 'task' }, () => 'new');
      await memory.set('count', (memory.get<number>('count') ?? 0) + 1);
      await memory.delete('old');
      yield { ...completed(plan), memory: { done: true } };
    };
    const first = await runTurn(agent, 'Hello', { memory: { count: 1, old: 'x' } });
    expect(first.memory).toEqual({ count: 2, done: true });
    expect(first.steps).toEqual({ plan: 'new' });
    const next = await runTurn(agent, 'Hello', { steps: { plan: 'kept' }, memory: first.memory });
    expect(next.updates).toMatchObject([{ status: { message: { parts: [{ text: 'kept' }] } } }]);
    expect(next.memory).toEqual({ count: 3, done: true });
    expect((await runTurn(() => reply('Hi'), 'Hello')).memory).toEqual({});
  });

  it('is refused as the server refuses it', async () => {
    const errors: unknown[] = [];
    await runTurn(async function* ({ memory }) {
      await memory.set('a', 1n).catch((error) => errors.push(error.name));
      await memory.set('a', 'x'.repeat(2 ** 20)).catch((error) => errors.push(error.name));
      yield completed();
    }, 'Hello');
    expect(errors).toEqual(['TypeError', 'RangeError']);
  });

  it('has retries of steps, whose waits take no time, and their defaults', async () => {
    const tries: number[] = [];
    const agent: Agent = async function* ({ step }) {
      await step('call', { backoff: { initialMs: 3_600_000 } }, ({ attempt, signal }) => {
        tries.push(attempt);
        expect(signal.aborted).toBe(false);
        if (attempt < 3) throw new Error('Busy');
      });
      yield completed();
    };
    await runTurn(agent, 'Hello', { retry: { retries: 2 } });
    expect(tries).toEqual([1, 2, 3]);
    await expect(runTurn(agent, 'Hello', { retry: { retries: 1 } })).rejects.toThrow('Busy');
    tries.length = 0;
    await expect(runTurn(agent, 'Hello')).rejects.toThrow('Busy');
    expect(tries).toEqual([1]);
  });
});
