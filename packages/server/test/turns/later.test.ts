import { SCHEDULING } from '@batonjs/protocol/headers';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn, testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { frequentPolls } from '../../../../test/kit/frequent-polls.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServerOptions,
  completed,
  inputRequired,
  reply,
  working,
} from '../../src/index.ts';

const card = {
  name: 'Test',
  description: 'For tests',
  capabilities: { extensions: [{ uri: SCHEDULING }] },
};
const serve = serveWith({ clock: frequentPolls(), card });
const headers = { 'a2a-extensions': SCHEDULING };
const hour = 3_600_000;

/** Sends a message that is postponed, as the metadata says. */
const send = (server: ReturnType<typeof serve>, schedule: unknown, more: object = {}, active = true) =>
  rpc(
    server,
    'SendMessage',
    {
      message: say('go', { metadata: { [SCHEDULING]: schedule } as never, ...more }),
      configuration: { returnImmediately: true },
    },
    active ? headers : {},
  );

/** A store and a server that share a clock which the test sets, and a way to wait for the next claims. */
function withClock(
  agent: Agent,
  { ahead = 0, ...options }: Partial<AgentServerOptions> & { ahead?: number } = {},
) {
  const start = Date.UTC(2026, 0, 1);
  const clock = { step: 0 };
  const since = performance.now();
  const now = () => Math.floor(start + clock.step + performance.now() - since);
  let claims = 0;
  const store = change(memoryStore({ now: () => now() + ahead }), {
    claim: (claim) => async (request) => {
      const leases = await claim(request);
      claims++;
      return leases;
    },
  });
  const server = serve(agent, { store, clock: { ...frequentPolls(), now }, ...options });
  const nextClaims = async () => {
    const before = claims;
    await eventually(() => expect(claims).toBeGreaterThan(before + 2));
  };
  return { server, store, clock, nextClaims, at: (ms: number) => new Date(now() + ms).toISOString() };
}

describe('a wall clock that is set', () => {
  const counting = () => {
    const turns: number[] = [];
    const agent: Agent = async function* ({ wakeAt, attempt }) {
      turns.push(attempt);
      yield working();
      if (turns.length === 1) return await wakeAt(Date.UTC(2026, 0, 1, 1));
      yield completed();
    };
    return { turns, agent };
  };

  it('back starts nothing twice and loses nothing', async () => {
    const { turns, agent } = counting();
    const { server, clock, nextClaims, at } = withClock(agent);
    const { task } = await send(server, { notBefore: at(hour / 2) });
    await nextClaims();
    expect(turns).toHaveLength(0);
    clock.step = hour / 2;
    await eventually(() => expect(turns).toHaveLength(1));
    await until(server, task.id, 'WORKING');
    clock.step = -hour;
    await nextClaims();
    expect(turns).toHaveLength(1);
    clock.step = hour;
    await until(server, task.id, 'COMPLETED');
    clock.step = -hour;
    await nextClaims();
    expect(turns).toEqual([1, 1]);
  });

  it('forth starts at once what would have started meanwhile', async () => {
    const { turns, agent } = counting();
    const { server, clock, nextClaims, at } = withClock(agent);
    const { task } = await send(server, { notBefore: at(hour / 2) });
    await nextClaims();
    expect(turns).toHaveLength(0);
    clock.step = 48 * hour;
    await until(server, task.id, 'COMPLETED');
    expect(turns).toEqual([1, 1]);
  });

  it('of the store counts where it is ahead of that of the process', async () => {
    let turns = 0;
    const agent: Agent = async function* () {
      turns++;
      yield completed();
    };
    const { server, store, at } = withClock(agent, { ahead: hour });
    const { task } = await send(server, { notBefore: at(hour / 2) });
    await until(server, task.id, 'COMPLETED');
    expect(turns).toBe(1);
    const types = (await store.readFacts(scope, task.id, 0, 100)).map(({ fact }) => fact.type);
    expect(types.filter((type) => type === 'turn-started')).toHaveLength(1);
  });
});

describe('a message that is postponed', () => {
  const ends: Agent = async function* () {
    yield completed();
  };

  it.each([
    'soon',
    7,
    null,
    true,
    {},
    '2026-11-22',
    '2026-11-22T10:00:00',
    '2026-13-22T10:00:00Z',
    '2026-11-22T10:00:00+99:00',
    '12026-11-22T10:00:00Z',
    new Date(Date.now() + 400 * 24 * hour).toISOString(),
  ])('is refused with a time that is none, or too far away: %j', async (notBefore) => {
    const refused = expect(send(serve(ends), { notBefore })).rejects;
    await refused.toMatchObject({ error: { code: -32602, message: expect.stringContaining('notBefore') } });
  });

  it.each([-1, 10, 1.5, '5', null, Number.MAX_SAFE_INTEGER, true])(
    'is refused with another priority than 0 to 9: %j',
    async (priority) => {
      const refused = expect(send(serve(ends), { priority })).rejects;
      await refused.toMatchObject({ error: { code: -32602, message: expect.stringContaining('priority') } });
    },
  );

  it.each([7, 'x', null, []])('is refused where its metadata is no object: %j', async (schedule) => {
    await expect(send(serve(ends), schedule)).rejects.toMatchObject({ error: { code: -32602 } });
  });

  it.each([
    { notBefore: '2026-01-01T00:00:00Z' },
    { notBefore: '2026-01-01T02:00:00.123456+02:00' },
    {},
    { other: 1 },
    { priority: 0 },
    { priority: 9 },
  ])('starts at once if its time has come, or it names none: %j', async (schedule) => {
    const server = serve(ends);
    await until(server, (await send(server, schedule)).task.id, 'COMPLETED');
  });

  it('starts at once where the extension is not active [R-EXT-01]', async () => {
    const server = serve(ends);
    const notBefore = new Date(Date.now() + hour).toISOString();
    await until(server, (await send(server, { notBefore }, {}, false)).task.id, 'COMPLETED');
    const undeclared = serve(ends, { card: { name: 'Test', description: 'For tests' } });
    await until(undeclared, (await send(undeclared, { notBefore })).task.id, 'COMPLETED');
  });

  it('has a task, also where the agent answers with messages', async () => {
    const { server, clock, at } = withClock(() => reply('done'));
    const { task } = await send(server, { notBefore: at(hour) });
    expect(task.status.state).toBe('TASK_STATE_SUBMITTED');
    clock.step = hour;
    const { status } = await until(server, task.id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: 'done' }]);
  });

  it('is received once, however often it is sent', async () => {
    const server = serve(ends, { messages: { idempotency: true } });
    const notBefore = new Date(Date.now() + hour).toISOString();
    const first = await send(server, { notBefore }, { messageId: 'same' });
    const second = await send(server, { notBefore }, { messageId: 'same' });
    expect(second.task.id).toBe(first.task.id);
    const other = send(
      server,
      { notBefore: new Date(Date.now() + 2 * hour).toISOString() },
      { messageId: 'same' },
    );
    await expect(other).rejects.toMatchObject({ reason: 'MESSAGE_ID_CONFLICT' });
  });

  it('has its whole time from then on', async () => {
    const { server, clock, at } = withClock(ends, { timeouts: { taskMs: hour } });
    const { task } = await send(server, { notBefore: at(2 * hour) });
    clock.step = 2 * hour + 1;
    await until(server, task.id, 'COMPLETED');
    const { task: late } = await send(server, { notBefore: at(2 * hour) });
    clock.step += 4 * hour;
    const { status } = await until(server, late.id, 'FAILED');
    expect(JSON.stringify(status.message)).toContain('DEADLINE_EXCEEDED');
  });

  it('is not in the inbox of a turn that runs', async () => {
    const sent = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ text, inbox }) {
      yield working();
      await sent.promise;
      const sizes = [inbox.size];
      const taken = await inbox.take();
      yield inputRequired(`${text}: ${sizes}, ${taken?.messageId}`);
    };
    const server = serve(agent);
    const { task } = await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    const notBefore = new Date(Date.now() + hour).toISOString();
    await send(server, { notBefore }, { taskId: task.id, messageId: 'later' });
    await send(server, {}, { taskId: task.id, messageId: 'now' });
    sent.resolve();
    const { status } = await until(server, task.id, 'INPUT_REQUIRED');
    expect(status.message?.parts).toEqual([{ text: 'go: 1, now' }]);
  });

  it.each([
    ['gets it when its time has come', 'COMPLETED', 'later'],
    ['gets nothing if the task is canceled before', 'CANCELED', undefined],
  ])('a turn that waits for the next message %s', async (_, state, expected) => {
    const taken: (string | undefined)[] = [];
    const agent: Agent = async function* ({ inbox }) {
      yield working();
      taken.push((await inbox.take())?.messageId);
      yield completed();
    };
    const clock = testClock();
    const server = serve(agent, { clock, store: memoryStore({ now: clock.now }) });
    const { task } = await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    const notBefore = new Date(clock.now() + hour / 60).toISOString();
    await send(server, { notBefore }, { taskId: task.id, messageId: 'later' });
    await clock.advance(hour / 60 - 1);
    expect(taken).toEqual([]);
    const asked = expected ? clock.advance(1) : rpc(server, 'CancelTask', { id: task.id });
    await asked;
    expect(taken).toEqual([expected]);
    expect((await rpc(server, 'GetTask', { id: task.id })).status.state).toBe(`TASK_STATE_${state}`);
  });
});

describe('wakeAt', () => {
  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, new Date('x'), Date.UTC(10_000, 0, 1)])(
    'refuses a time that is none: %s',
    async (time) => {
      const outcome = runTurn(async function* ({ wakeAt }) {
        yield working();
        await wakeAt(time);
      }, 'go');
      await expect(outcome).rejects.toThrow(RangeError);
    },
  );

  it('is shown by runTurn, which lets the agent end without ending its task', async () => {
    const time = new Date('2030-01-01T00:00:00Z');
    const outcome = await runTurn(
      async function* ({ wakeAt, woken }) {
        yield working(String(woken));
        await wakeAt(time);
      },
      'go',
      { woken: true },
    );
    expect(outcome.wakeAt).toBe(time.toISOString());
    expect(outcome.updates[0]).toMatchObject({ status: { message: { parts: [{ text: 'true' }] } } });
    const unasked = runTurn(async function* () {
      yield working();
    }, 'go');
    await expect(unasked).rejects.toThrow('ended without saying');
  });
});
