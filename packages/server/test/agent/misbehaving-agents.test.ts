import { decodeSse } from '@batonjs/bindings';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange } from '../../../../test/kit/http/exchange.ts';
import { call, rpcBody, usual } from '../../../../test/kit/http/known-tasks.ts';
import { expectDiscreet } from '../../../../test/kit/http/refusal.ts';
import { type Served, secret, serveHttp } from '../../../../test/kit/http/serve-http.ts';
import { said } from '../../../../test/kit/http/wrong-sends.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import {
  A2AError,
  type Agent,
  append,
  artifact,
  canceled,
  completed,
  inputRequired,
  reply,
  working,
} from '../../src/index.ts';

let served: Served;
afterEach(() => served.close());

/** What the operator of the agent sees, and no client. */
let logged: unknown[];
const serveAgent = async (agent: Agent, options: object = {}) => {
  logged = [];
  // A busy machine may block the event loop, of which the server warns.
  const logger = (...entry: unknown[]) =>
    void (entry[1] === 'The event loop was blocked' || logged.push(entry));
  served = await serveHttp({ agent, logger, ...options });
};

/** Something no agent may do, given what it takes to write it down. */
// biome-ignore lint/suspicious/noExplicitAny: that is what this is about
const as = (garbage: unknown) => garbage as any;

const circular: Record<string, unknown> = { secret };
circular.self = circular;
const statusOf = (state: unknown) => as({ status: { state } });

/** Every access throws another object of the same kind. */
const hostile = (): object => {
  const refuse = () => {
    throw hostile();
  };
  const traps = ['get', 'has', 'getPrototypeOf', 'ownKeys', 'getOwnPropertyDescriptor', 'isExtensible'];
  return new Proxy({}, Object.fromEntries(traps.map((trap) => [trap, refuse])));
};
/** The error of the store when another turn holds the task. */
const fenced = Object.assign(new Error(secret), { name: 'StoreError', code: 'FENCED' });

// biome-ignore format: a table reads best with one row per line
const agents: readonly [what: string, agent: Agent][] = [
  ['throws at once', () => { throw new Error(secret); }],
  ['rejects', async () => { throw new Error(secret); }],
  ['throws text', () => { throw secret; }],
  ['throws undefined', () => { throw undefined; }],
  ['throws before its first update', async function* () { if (secret) throw new Error(secret); yield working(); }],
  ['throws in the middle', async function* () { yield working(); throw Object.assign(new Error(secret), { code: secret, status: 404, statusCode: 404 }); }],
  ['throws an error that looks like ours', async function* () { yield working(); throw { name: 'A2AError', reason: 'TASK_NOT_FOUND', message: secret }; }],
  ['throws what cannot be read', () => { throw hostile(); }],
  ['throws what cannot be read, in the middle', async function* () { yield working(); throw hostile(); }],
  ['throws an error of ours that is none', () => { throw Object.assign(new A2AError('TASK_NOT_FOUND'), { reason: hostile(), message: 5 }); }],
  ['throws as if it had lost its task', () => { throw fenced; }],
  ['throws as if it had lost its task, in the middle', async function* () { yield working(); throw fenced; }],
  ['throws as if the store were away', async function* () { yield working(); throw Object.assign(new Error(secret), { name: 'StoreError', code: 'UNAVAILABLE' }); }],
  ['returns what cannot be read', () => as(hostile())],
  ['yields what cannot be read', async function* () { yield as(hostile()); }],
  ['yields a status that cannot be read', async function* () { yield as({ status: hostile() }); }],
  ['yields parts that cannot be read', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ data: hostile() }] } }); }],
  ['returns an iterator that yields what cannot be read', () => as({ [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, get value() { throw hostile(); } }) }) })],
  ['returns an iterator that cannot end', () => as({ [Symbol.asyncIterator]: () => ({ next: async () => ({ value: 5 }), return() { throw hostile(); } }) })],
  ['returns undefined', () => as(undefined)],
  ['returns null', () => as(null)],
  ['returns a number', () => as(5)],
  ['returns text', () => as(secret)],
  ['returns an empty object', () => as({})],
  ['returns a list', () => as([working(), completed()])],
  ['returns a promise of nothing', async () => as(undefined)],
  ['returns a message without parts', () => as({ messageId: 'm', role: 'ROLE_AGENT', parts: [] })],
  ['returns a message without an id', () => as({ role: 'ROLE_AGENT', parts: [{ text: secret }] })],
  ['returns a message whose parts are text', () => as({ messageId: 'm', parts: secret })],
  ['returns a message with a part that is a number', () => as({ messageId: 'm', parts: [5] })],
  ['returns a message with a part of two contents', () => as({ messageId: 'm', parts: [{ text: 'a', data: 'b' }] })],
  ['returns a message that is circular', () => as({ messageId: 'm', parts: [{ data: circular }] })],
  ['returns an iterable that has no iterator', () => as({ [Symbol.asyncIterator]: 5 })],
  ['returns an iterator that yields no results', () => as({ [Symbol.asyncIterator]: () => ({ next: async () => undefined }) })],
  ['returns an iterator that throws', () => as({ [Symbol.asyncIterator]: () => ({ next() { throw new Error(secret); } }) })],
  ['yields undefined', async function* () { yield as(undefined); }],
  ['yields null', async function* () { yield as(null); }],
  ['yields a number', async function* () { yield as(5); }],
  ['yields text', async function* () { yield as(secret); }],
  ['yields an empty object', async function* () { yield as({}); }],
  ['yields a list', async function* () { yield as([working()]); }],
  ['yields a message', async function* () { yield as(reply(secret)); }],
  ['yields a status that is null', async function* () { yield as({ status: null }); }],
  ['yields a state that there is not', async function* () { yield statusOf('TASK_STATE_DONE'); }],
  ['yields state 99', async function* () { yield statusOf(99); }],
  ['yields no state', async function* () { yield statusOf(undefined); }],
  ['yields the unspecified state', async function* () { yield statusOf('TASK_STATE_UNSPECIFIED'); }],
  ['yields the state constructor', async function* () { yield statusOf('constructor'); }],
  ['yields the state __proto__', async function* () { yield statusOf('__proto__'); }],
  ['goes back to SUBMITTED', async function* () { yield working(); yield statusOf('TASK_STATE_SUBMITTED'); }],
  ['says something that has no parts', async function* () { yield as({ status: { state: 'TASK_STATE_WORKING', message: { messageId: 'x', parts: [] } } }); }],
  ['says something that is text', async function* () { yield as({ status: { state: 'TASK_STATE_WORKING', message: secret } }); }],
  ['says a number', async function* () { yield as({ status: { state: 'TASK_STATE_WORKING', message: { messageId: 'x', parts: [5] } } }); }],
  ['yields an artifact that is null', async function* () { yield as({ artifact: null }); }],
  ['yields an artifact without parts', async function* () { yield as({ artifact: { artifactId: 'a', parts: [] } }); }],
  ['yields an artifact without id', async function* () { yield as({ artifact: { parts: [{ text: secret }] } }); }],
  ['yields an artifact with a part that is a number', async function* () { yield as({ artifact: { artifactId: 'a', parts: [5] } }); }],
  ['yields an artifact with a part without content', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ filename: 'x' }] } }); }],
  ['yields an artifact with a part of two contents', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ text: 'x', url: 'https://a.example' }] } }); }],
  ['yields a function', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ data: () => secret }] } }); }],
  ['yields a big integer', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ data: 5n }] } }); }],
  ['yields something circular', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ data: circular }] } }); }],
  ['yields something that throws when it is written', async function* () { yield as({ artifact: { artifactId: 'a', parts: [{ data: { get it() { throw new Error(secret); } } }] } }); }],
  ['appends to an artifact that there is not', async function* () { yield append('nothing', 'more'); }],
  ['returns while it works', async function* () { yield working(); }],
  ['returns without a word', async function* () {}],
  ['speaks with the id of the client\'s message', async function* ({ message }) { yield working({ ...reply('Me?'), messageId: message.messageId }); }],
];

const send = (params: object = {}) => call(served.origin, 'SendMessage', { message: said(), ...params });

describe('an agent that', () => {
  it.each(agents)(
    '%s fails its task, clearly, and reveals nothing [R-SEND-23] [R-ERR-11]',
    async (_what, agent) => {
      await serveAgent(agent);
      const { task } = await send();
      expect(task.status).toMatchObject({
        state: 'TASK_STATE_FAILED',
        message: {
          role: 'ROLE_AGENT',
          parts: [
            { text: expect.stringMatching(/^\S.{8,}/) },
            { data: { code: expect.stringMatching(/^[A-Z_]{5,}$/), message: expect.any(String) } },
          ],
        },
      });
      expect(task.artifacts ?? []).toEqual([]);
      const said = task.history.flatMap(({ parts }: { parts: { text: string }[] }) =>
        parts.map(({ text }) => text),
      );
      expect(said[0]).toBe('hello');
      for (const text of said) expect(text).toEqual(expect.any(String));
      expectDiscreet(JSON.stringify(task));
      expect(await call(served.origin, 'GetTask', { id: task.id })).toEqual(task);
      expect(logged).toEqual([['error', 'An agent failed', expect.objectContaining({ taskId: task.id })]]);
      expect(served.server.load.turns).toBe(0);
    },
  );

  const streamed = agents.filter((_, index) => index % 6 === 0);
  it.each(streamed)('%s ends its stream with FAILED [R-STR-02] [R-STR-12]', async (_what, agent) => {
    await serveAgent(agent);
    const body = rpcBody('SendStreamingMessage', { message: said() });
    const response = await fetch(`${served.origin}/agent`, { method: 'POST', headers: usual, body });
    const events: string[] = [];
    for await (const { data } of decodeSse(response.body!)) events.push(data);
    const { result } = JSON.parse(events.at(-1)!);
    expect((result.statusUpdate ?? result.task).status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.parse(events[0]!).result).toHaveProperty('task');
    expectDiscreet(events.join('\n'));
  });
});

describe('after the end', () => {
  it.each([
    ['another state', working()],
    ['an artifact', artifact('late', 'x')],
    ['the end once more', completed()],
    ['garbage', as(7)],
  ])('%s is not stored and not sent', async (_what, late) => {
    await serveAgent(async function* () {
      yield artifact('answer', 'a');
      yield completed('Done');
      yield late;
    });
    const { task } = await send();
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      message: { parts: [{ text: 'Done' }] },
    });
    expect(task.artifacts).toHaveLength(1);
    expect(await call(served.origin, 'GetTask', { id: task.id })).toEqual(task);
  });

  it('an error changes nothing any more', async () => {
    await serveAgent(async function* () {
      yield completed('Done');
      throw new Error(secret);
    });
    const { task } = await send();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await call(served.origin, 'GetTask', { id: task.id })).status).toEqual(task.status);
  });
});

describe('an agent that never returns', () => {
  it('is canceled without it [R-CAN-01]', async () => {
    await serveAgent(
      async function* () {
        yield working();
        await new Promise(() => {});
      },
      { timeouts: { cancelGraceMs: 1 } },
    );
    const { task } = await send({ configuration: { returnImmediately: true } });
    const after = await call(served.origin, 'CancelTask', { id: task.id });
    expect(after.status.state).toBe('TASK_STATE_CANCELED');
    expect(served.server.load.turns).toBe(0);
  });

  it('fails at its deadline', async () => {
    await serveAgent(async () => new Promise<never>(() => {}), { timeouts: { taskMs: 20 } });
    const { task } = await send();
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { parts: [{}, { data: { code: 'DEADLINE_EXCEEDED' } }] },
    });
  });

  it('fails at its deadline also if it never says anything as a generator', async () => {
    await serveAgent(
      async function* () {
        await new Promise(() => {});
        yield completed();
      },
      { timeouts: { inactivityMs: 20 } },
    );
    expect((await send()).task.status.state).toBe('TASK_STATE_FAILED');
  });

  it('leaves the client with the task as it is when the wait is over [R-SEND-22]', async () => {
    await serveAgent(
      async function* () {
        yield working('Still at it');
        await new Promise(() => {});
      },
      { timeouts: { blockingMs: 20 } },
    );
    expect((await send()).task.status).toMatchObject({ state: expect.stringMatching(/SUBMITTED|WORKING/) });
  });
});

describe('an agent that does not stop when its signal is aborted', () => {
  it('loses the race to a forced cancel, and what it says later is dropped', async () => {
    let late: () => void = () => {};
    const wait = new Promise<void>((resolve) => {
      late = resolve;
    });
    let refused: unknown;
    await serveAgent(
      async function* () {
        yield working();
        await wait;
        try {
          yield completed('Too late');
        } catch (error) {
          refused = error;
        }
      },
      { timeouts: { cancelGraceMs: 1 } },
    );
    const { task } = await send({ configuration: { returnImmediately: true } });
    const after = await call(served.origin, 'CancelTask', { id: task.id });
    expect(after.status.state).toBe('TASK_STATE_CANCELED');
    late();
    await wait;
    expect(await call(served.origin, 'GetTask', { id: task.id })).toEqual(after);
    expect(refused).toBeUndefined();
  });

  it('may say itself that it was canceled', async () => {
    await serveAgent(async function* ({ signal }) {
      yield working();
      await untilAborted(signal);
      yield canceled('Stopped');
    });
    const { task } = await send({ configuration: { returnImmediately: true } });
    const after = await call(served.origin, 'CancelTask', { id: task.id });
    expect(after.status).toMatchObject({
      state: 'TASK_STATE_CANCELED',
      message: { parts: [{ text: 'Stopped' }] },
    });
  });
});

describe('an agent that catches what it is refused', () => {
  it('goes on', async () => {
    await serveAgent(async function* () {
      yield working();
      try {
        yield append('nothing', 'more');
      } catch (error) {
        yield artifact('why', (error as Error).message);
      }
      yield completed();
    });
    const { task } = await send();
    expect(task).toMatchObject({
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'why', parts: [{ text: expect.stringContaining('nothing') }] }],
    });
    expect(logged).toEqual([]);
  });
});

describe('what an agent may ask for', () => {
  it('ends its turn; what follows the question is not said', async () => {
    await serveAgent(async function* () {
      yield inputRequired('Well?');
      yield completed(secret);
    });
    const { task } = await send();
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expectDiscreet(JSON.stringify(await call(served.origin, 'GetTask', { id: task.id })));
  });
});

it('the server of misbehaving agents goes on', async () => {
  await serveAgent(({ text }) => (text === 'hello' ? reply('Hi') : as(undefined)));
  await send({ message: said({ parts: [{ text: 'bad' }] }) });
  expect((await send()).message.parts).toEqual([{ text: 'Hi' }]);
  expect((await exchange(served.origin, { path: '/agent/.well-known/agent-card.json' })).status).toBe(200);
});
