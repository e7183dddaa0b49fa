import { A2AError, type AgentClient, ClientError, textOf } from '@batonjs/client';
import { extend, progress, taskProgress } from '@batonjs/extensions';
import { TASK_PROGRESS, TASK_TREE } from '@batonjs/extensions/client';
import {
  type Agent,
  artifact,
  completed,
  inputRequired,
  type TaskUpdate,
  type Turn,
  working,
} from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { Agents, isIdempotent, offers } from '../src/agents/agents.ts';
import { Unreachable } from '../src/agents/reach.ts';
import { cancelChildren } from '../src/children/cancel-children.ts';
import { findTask } from '../src/children/start-child.ts';
import { type Relay, relayProgress } from '../src/index.ts';
import { mergedUpdates } from '../src/turn/merged-updates.ts';
import { TurnCalls, UpdateQueue } from '../src/turn/turn-calls.ts';
import { clientOf, serveParent } from './family.ts';

const done: Agent = async function* () {
  yield completed('Done');
};

/** A client of an agent, some of whose methods the test plays. */
async function playing(methods: Partial<Record<keyof AgentClient, unknown>>, agent = done, options = {}) {
  const client = await clientOf(serve(agent, options));
  return new Proxy(client, {
    get: (target, name) =>
      Object.hasOwn(methods, name) ? methods[name as keyof AgentClient] : Reflect.get(target, name),
  });
}

describe('the error of a call', () => {
  const unusable = 'its agent has a card or an answer that cannot be used';
  const away = 'its agent cannot be reached';
  const unknown = 'whether the agent received the message is not known, and it is not sent twice';
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  it.each<[string, unknown, string | undefined, string?]>([
    ['an agent out of reach', new Unreachable('x'), 'UNREACHABLE', away],
    ['a connection that was not made', new ClientError('NETWORK', 'secret', refused), 'UNREACHABLE', away],
    ['a broken connection', new ClientError('NETWORK', 'secret'), 'OUTCOME_UNKNOWN', unknown],
    ['no answer in time', new ClientError('TIMEOUT', 'secret'), 'OUTCOME_UNKNOWN', unknown],
    ['an agent that is away', new A2AError('UNAVAILABLE', 'secret'), 'UNREACHABLE', away],
    [
      'a task that is gone',
      new A2AError('TASK_NOT_FOUND', 'secret'),
      'TASK_LOST',
      'its agent no longer knows the task',
    ],
    ['an answer that is none', new A2AError('INVALID_AGENT_RESPONSE', 'secret'), 'UNUSABLE', unusable],
    ['a card that is none', new ClientError('INVALID_CARD', 'secret'), 'UNUSABLE', unusable],
    ['a large answer', new ClientError('RESPONSE_TOO_LARGE', 'secret'), 'UNUSABLE', unusable],
    [
      'a refusal',
      new A2AError('PERMISSION_DENIED', 'secret'),
      'REFUSED',
      'its agent refused it (PERMISSION_DENIED)',
    ],
    ['a mistake of the caller', new TypeError('Wrong'), undefined],
    ['anything else', new Error('Anything'), undefined],
  ])('of %s says so', async (_, error, code, problem) => {
    const stream = () => {
      throw error;
    };
    const child = await playing({ stream }, done, { messages: { idempotency: false } });
    let found: unknown;
    const parent = serveParent(
      async function* ({ call }) {
        await call('child', 'Hi', { name: 'a' }).catch((problem) => {
          found = problem;
        });
        yield completed();
      },
      { agents: { child }, unreachableMs: 0 },
    );
    await (await clientOf(parent)).send('Go');
    if (code === undefined) return expect(found).toBe(error);
    expect(found).toMatchObject({
      name: 'CallError',
      code,
      call: 'a',
      message: `The call "a" failed: ${problem}`,
    });
    const causes: unknown[] = [];
    for (let cause = (found as Error).cause; cause instanceof Error; cause = cause.cause) causes.push(cause);
    expect(causes).toContain(error);
  });

  it.each<[ClientError]>([[new ClientError('TIMEOUT', 'secret')], [new ClientError('NETWORK', 'secret')]])(
    'is UNREACHABLE where a stream that began breaks and is not taken up again: %s',
    async (error) => {
      const stream = () => {
        const events = [{ task: { id: 'there', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } }];
        const next = async () => {
          if (events.length === 0) throw error;
          return { value: events.shift() };
        };
        return { [Symbol.asyncIterator]: () => ({ next }) };
      };
      const child = await playing({ stream });
      let found: unknown;
      const parent = serveParent(
        async function* ({ call }) {
          await call('child', 'Hi', { name: 'a' }).catch((problem) => {
            found = problem;
          });
          yield completed();
        },
        { agents: { child } },
      );
      await (await clientOf(parent)).send('Go');
      expect(found).toMatchObject({
        code: 'UNREACHABLE',
        message: `The call "a" failed: ${away}`,
        cause: error,
      });
    },
  );

  it('is TIMEOUT also while an update of it waits to be written', async () => {
    const child = await playing({});
    const agents = new Agents({ agents: { child }, connect: () => expect.unreachable() });
    const turn = {
      taskId: 't',
      attempt: 1,
      children: {},
      extensions: [],
      messages: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Go' }] }],
      signal: new AbortController().signal,
    } as unknown as Turn;
    const limits = { depth: 8, calls: 100, unreachableMs: 60_000 };
    // Nobody reads what it writes.
    const { call } = new TurnCalls(turn, { agents, limits, cancelMs: 1, logger: () => {} });
    await expect(call('child', 'Hi', { name: 'a', timeoutMs: 20 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'The call "a" failed: its task took longer than 20 ms',
    });
  });

  it('that the agent does not catch is the failure of its task, unless it is a fault', async () => {
    const child = await playing({
      stream() {
        throw new A2AError('PERMISSION_DENIED', 'secret');
      },
    });
    const parent = serveParent(
      async function* ({ call, text }) {
        if (text === 'fault') throw new Error('secret');
        await call('child', 'Hi', { name: 'a' });
        yield completed();
      },
      { agents: { child } },
    );
    const client = await clientOf(parent);
    const { task } = await client.send('Go');
    expect(task?.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task?.status.message?.parts)).toContain('CALL_REFUSED');
    expect(textOf(task?.status.message)).toContain(
      'The call "a" failed: its agent refused it (PERMISSION_DENIED)',
    );
    const fault = await client.send('fault');
    expect(JSON.stringify(fault.task)).not.toContain('CALL_');
  });
});

describe('the updates of an agent and its calls', () => {
  /** What a generator of updates yields. `refuses`: the errors that are thrown at a `yield`, by its number. */
  async function written(updates: AsyncGenerator<TaskUpdate>, refuses: Record<number, Error> = {}) {
    const seen: TaskUpdate[] = [];
    let next = await updates.next();
    for (let n = 0; !next.done; n += 1) {
      seen.push(next.value);
      next = await (refuses[n] ? updates.throw(refuses[n]) : updates.next());
    }
    return seen;
  }
  const never = new AbortController().signal;
  const callsOf = (updates = new UpdateQueue(), canceled: object[] = []) => {
    let cancels = 0;
    const calls = {
      updates,
      cancelRest: async () => {
        cancels += 1;
        return canceled;
      },
    } as unknown as TurnCalls;
    return { calls, cancels: () => cancels };
  };
  const child = { name: 'a', agent: 'A', record: {} };

  it.each(['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'])(
    'tell of canceled children before %s',
    async (state) => {
      const { calls, cancels } = callsOf(new UpdateQueue(), [child]);
      const end = { status: { state: `TASK_STATE_${state}` } } as TaskUpdate;
      const agent = async function* () {
        yield working('Half');
        yield artifact('a', 'x');
        yield inputRequired('How much?');
        yield end;
      };
      const seen = await written(mergedUpdates(agent(), calls, never));
      expect(seen).toHaveLength(5);
      expect(seen.slice(3)).toEqual([{ child }, end]);
      expect(cancels()).toBe(1);
    },
  );

  it('come from calls in their order, and a refusal reaches the call', async () => {
    const queue = new UpdateQueue();
    const { calls } = callsOf(queue);
    const refusal = new Error('Refused');
    const ends: PromiseSettledResult<void>[] = [];
    const updates = [working('a'), working('b')];
    const agent = async function* () {
      ends.push(...(await Promise.allSettled(updates.map((update) => queue.push(update, never)))));
      yield completed();
    };
    const seen = await written(mergedUpdates(agent(), calls, never), { 0: refusal });
    expect(seen.slice(0, 2)).toEqual(updates);
    expect(ends).toMatchObject([{ status: 'rejected', reason: refusal }, { status: 'fulfilled' }]);
  });

  it('that are refused are refused to the agent, which may go on', async () => {
    const { calls } = callsOf();
    const refusal = new Error('Refused');
    const errors: unknown[] = [];
    const agent = async function* () {
      try {
        yield working('a');
      } catch (error) {
        errors.push(error);
      }
      yield completed('b');
    };
    expect(await written(mergedUpdates(agent(), calls, never), { 0: refusal })).toHaveLength(2);
    expect(errors).toEqual([refusal]);
  });

  it('end the generator of the agent when nobody reads on', async () => {
    const ended = Promise.withResolvers<void>();
    const agent = async function* () {
      try {
        for (;;) yield working('a');
      } finally {
        ended.resolve();
      }
    };
    const updates = mergedUpdates(agent(), callsOf().calls, never);
    await updates.next();
    await updates.return(undefined);
    await ended.promise;
  });
});

describe('the progress of children', () => {
  type Report = readonly [progress: number, total: number] | undefined;

  /** The metadata of the updates of a parent, once for each child that reported so while all of them ran. */
  async function shown(reports: readonly Report[], extensions: string[]) {
    const over = Promise.withResolvers<void>();
    const { card, agent } = extend(
      {
        card: { name: 'Worker', description: 'Works' },
        async *agent({ text }) {
          const report = reports[Number(text)];
          yield report ? working(`Child ${text}`, progress(...report)) : working(`Child ${text}`);
          await over.promise;
          yield completed();
        },
      },
      taskProgress,
    );
    const child = serve(agent, { card });
    const parent = serveParent(async function* ({ call }) {
      const calls: Promise<unknown>[] = [];
      for (const n of reports.keys()) {
        const reported = Promise.withResolvers<void>();
        const relay: Relay = (event, task) => {
          const update = relayProgress(event, task);
          if (update) reported.resolve();
          return update;
        };
        calls.push(call(child, `${n}`, { name: `${n}`, relay }));
        await reported.promise;
      }
      over.resolve();
      await Promise.all(calls);
      yield completed();
    });
    const { capabilities } = parent.card;
    capabilities.extensions = [...(capabilities.extensions ?? []), { uri: TASK_PROGRESS }];
    const seen: object[] = [];
    for await (const { statusUpdate } of (await clientOf(parent, { extensions })).stream('Go'))
      if (statusUpdate && seen.length < reports.length) seen.push(statusUpdate.metadata ?? {});
    return seen;
  }
  const aggregateIn = (metadata: object | undefined) => Object(Object(metadata)[TASK_PROGRESS]).aggregate;

  it.each<[string, Report[], unknown]>([
    ['of one', [[1, 4]], { progress: 1, total: 4 }],
    ['of none', [undefined, undefined], undefined],
    [
      'of two',
      [
        [1, 4],
        [1, 2],
      ],
      { progress: 38, total: 100 },
    ],
    ['of one of two', [[1, 2], undefined], { progress: 25, total: 100 }],
    [
      'of nothing to do',
      [
        [0, 0],
        [1, 2],
      ],
      { progress: 25, total: 100 },
    ],
  ])('%s is shown with the tree, each where the caller asks for it', async (_, reports, expected) => {
    const both = await shown(reports, [TASK_TREE, TASK_PROGRESS]);
    expect(aggregateIn(both.at(-1))).toEqual(expected);
    expect(Object.keys(both.at(-1)!)).toEqual([TASK_TREE, ...(expected ? [TASK_PROGRESS] : [])]);
    expect((await shown(reports, [TASK_TREE])).map((metadata) => Object.keys(metadata))).toEqual(
      reports.map(() => [TASK_TREE]),
    );
    expect(aggregateIn((await shown(reports, [TASK_PROGRESS])).at(-1))).toEqual(expected);
    expect(await shown(reports, [])).toEqual(reports.map(() => ({})));
  });
});

describe('the agents of a parent', () => {
  const named = (name: string) => serve(done, { card: { name, description: 'For tests' } });
  const urls: string[] = [];
  const agentsOf = (agents = {}) =>
    new Agents({
      agents,
      connect: (url) => {
        urls.push(url);
        return url.includes('broken') ? Promise.reject(new Error('Broken')) : clientOf(named('Far'));
      },
    });

  it('are found by name, URL, server or client, each connected once', async () => {
    const [server, other] = [named('Near'), named('Other')];
    const client = await clientOf(named('Client'));
    const agents = agentsOf({ near: server, far: 'https://far.example', client });
    urls.length = 0;
    const rows: [Parameters<Agents['open']>[0], string, boolean][] = [
      ['near', 'near', true],
      [server, 'near', true],
      [other, 'in this process: Other', true],
      ['far', 'far', false],
      ['https://else.example', 'https://else.example', false],
      [new URL('https://else.example/x'), 'https://else.example/x', false],
      ['client', 'client', false],
      [client, 'client', false],
    ];
    for (const _ of [1, 2])
      for (const [callee, at, isLocal] of rows) {
        const target = await agents.open(callee);
        expect([target.at, target.isLocal]).toEqual([at, isLocal]);
      }
    expect(urls).toEqual(['https://far.example', 'https://else.example', 'https://else.example/x']);
    expect(await agents.openAt('in this process: Other')).toBe(await agents.open(other));
    const unnamed = await clientOf(named('Unnamed'));
    expect((await agents.open(unnamed)).at).toBe(unnamed.interface.url);
    expect((await agents.open(unnamed)).client).toBe(unnamed);
    expect((await agentsOf().openAt('https://new.example')).at).toBe('https://new.example');
  });

  it('offer what their cards list', async () => {
    const client = (capabilities?: object) => ({ card: { capabilities } }) as unknown as AgentClient;
    expect(offers(client({ extensions: [{ uri: 'x' }, { uri: 'y' }] }), 'y')).toBe(true);
    for (const without of [client(), client({}), client({ extensions: [{ uri: 'x' }] })]) {
      expect(offers(without, 'y')).toBe(false);
      expect(isIdempotent(without)).toBe(false);
    }
    expect(isIdempotent(await clientOf(serve(done, { messages: { idempotency: true } })))).toBe(true);
  });
});

describe('the task that a message started', () => {
  const message = { messageId: 'm', contextId: 'c' } as Parameters<typeof findTask>[1];
  const listing = (tasks: object[]) => {
    const asked: unknown[] = [];
    const listTasks = async (...given: unknown[]) => {
      asked.push(given);
      return { tasks };
    };
    return { asked, client: { listTasks } as unknown as AgentClient };
  };
  const task = (id: string, contextId: string, ids?: string[]) => ({
    id,
    contextId,
    ...(ids && { history: ids.map((messageId) => ({ messageId })) }),
  });

  it('has its context and the message in its history', async () => {
    const { client, asked } = listing([
      task('1', 'c', ['x']),
      task('2', 'c'),
      task('3', 'other', ['m']),
      task('4', 'c', ['x', 'm']),
    ]);
    const { signal } = new AbortController();
    expect(await findTask(client, message, signal)).toBe('4');
    expect(await findTask(listing([task('3', 'other', ['m'])]).client, message)).toBeUndefined();
    await findTask(client, message);
    const request = { contextId: 'c', pageSize: 100, historyLength: 1_000 };
    expect(asked).toEqual([
      [request, { signal }],
      [request, {}],
    ]);
  });

  it.each<[unknown, boolean]>([
    [new A2AError('METHOD_NOT_FOUND'), false],
    [new A2AError('UNAVAILABLE'), true],
    [new A2AError('RESOURCE_EXHAUSTED'), true],
    [new ClientError('NETWORK', 'x'), true],
    [new Error('x'), true],
  ])('is not known if the agent answers %s', async (error, isThrown) => {
    const client = { listTasks: () => Promise.reject(error) } as unknown as AgentClient;
    if (isThrown) await expect(findTask(client, message)).rejects.toBe(error);
    else expect(await findTask(client, message)).toBeUndefined();
  });
});

describe('children that are canceled', () => {
  const child = (more: object = {}) =>
    ({ agent: 'A', taskId: 'there', record: { at: 'a', startedAt: 0 }, ...more }) as never;
  const canceling = (methods: object) => {
    const client = { card: {}, ...methods };
    const logged: unknown[] = [];
    const logger = (...entry: unknown[]) => logged.push(entry);
    const agents = { openAt: async () => ({ client }) } as unknown as Agents;
    return { logged, settings: { agents, logger, cancelMs: 60_000 } };
  };
  const state = (name: string) => ({ status: { state: `TASK_STATE_${name}` } });

  it('are those that have not ended, as they are then', async () => {
    const calls: unknown[] = [];
    const cancelTask = async (request: unknown, options: { signal: AbortSignal }) => {
      calls.push([request, options.signal.aborted]);
      return state('CANCELED');
    };
    const { settings, logged } = canceling({ cancelTask });
    const ended = child({ state: 'TASK_STATE_FAILED' });
    expect(
      await cancelChildren(
        { ended, running: child({ state: 'TASK_STATE_WORKING' }), fresh: child({ taskId: undefined }) },
        settings,
      ),
    ).toEqual([
      {
        agent: 'A',
        name: 'running',
        taskId: 'there',
        state: 'TASK_STATE_CANCELED',
        record: { at: 'a', startedAt: 0 },
      },
    ]);
    expect([calls, logged]).toEqual([[[{ id: 'there' }, false]], []]);
  });
});
