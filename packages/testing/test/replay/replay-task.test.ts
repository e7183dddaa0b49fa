import { forkTask } from '@batonjs/operator';
import {
  type Agent,
  artifact,
  completed,
  emitting,
  failed,
  NonRetryableError,
  reply,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import {
  type ReplayDifference,
  recordTask,
  replayTask,
  type TaskRecording,
  testClock,
} from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { type ServeOptions, serve } from '../../../../test/kit/serve.ts';
import { type Change, orderAgent } from './order-agent.ts';

const hour = 3_600_000;
const nextRound = () => new Promise<void>((resolve) => setImmediate(resolve));
const later = { returnImmediately: true };

/** A server whose time the test moves, and the recordings of its tasks. */
function recorder(agent: Agent, options: ServeOptions = {}) {
  const clock = testClock(new Date('2026-01-01T00:00:00Z'));
  const store = memoryStore({ now: clock.now, monotonic: clock.monotonic });
  const begin = () =>
    serve(agent, {
      clock,
      store,
      restart: 'rerun',
      callbacks: true,
      publicUrl: 'https://orders.example',
      ...options,
    });
  const server = begin();
  const send = async (text: string, id?: string): Promise<string> => {
    const message = say(text, { ...(id && { taskId: id }), contextId: 'c' });
    const sent = rpc(server, 'SendMessage', { message, configuration: later });
    await clock.advance(10);
    return (await sent).task?.id;
  };
  /** As it is in a file. */
  const recording = async (id: string): Promise<TaskRecording> =>
    JSON.parse(JSON.stringify(await recordTask(store, scope, id)));
  return { clock, store, server, begin, send, recording };
}

/** A task with a question, an hour in which no answer comes, and an answer. */
async function orderRecording(): Promise<TaskRecording> {
  const { clock, send, recording }: ReturnType<typeof recorder> = recorder(
    orderAgent('nothing', () => clock.now()),
  );
  const id = await send('tea');
  await clock.advance(hour + 2_000);
  await send('Berlin', id);
  const recorded = await recording(id);
  expect(recorded.facts.at(-1)?.fact).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  return recorded;
}

let latest: Promise<TaskRecording> | undefined;

/** The same recording for all tests. */
const theOrder = (): Promise<TaskRecording> => (latest ??= orderRecording());

const changes: readonly [Change, ReplayDifference['kind'], RegExp][] = [
  ['one more step', 'new-step', /runs the step "audit", which the log lacks/],
  ['one more step, whose error it catches', 'new-step', /runs the step "audit", which the log lacks/],
  ['forgets a step', 'lost-step', /does not run the step "price", which the log has/],
  ['renames a step', 'renamed-step', /runs the step "cost", and the log has the step "price" in its place/],
  ['keeps a step', 'changed-step', /"receipt" is kept for the whole task, and the log has it for its turn/],
  ['another text', 'other-update', /comes to WORKING "Paid", and the log has WORKING "Charged"/],
  [
    'artifact instead of a status',
    'other-update',
    /artifact "note" "Charged", and the log has WORKING "Charged"/,
  ],
  ['one more update', 'other-update', /WORKING "And more", and the log has the artifact "invoice" "b-7: 7"/],
  ['no invoice', 'other-update', /comes to the labels eu, and the log has the artifact "invoice"/],
  ['more labels', 'other-update', /the labels eu, new, and the log has the labels eu/],
  ['another memory', 'other-update', /the memory of placed, and the log has the memory of order/],
  ['another callback', 'other-update', /the callback "paid", and the log has the callback "payment"/],
  ['forgets another value', 'other-update', /the memory of note, and the log has the memory of draft/],
  ['another schema', 'other-update', /the callback "payment", and the log has the callback "payment"/],
  ['no time', 'other-update', /no time to be woken, and the log has .*01:00:/],
  ['another time', 'other-update', /02:00:\S+ as the time to be woken, and the log has .*01:00:/],
  ['another question', 'other-update', /INPUT_REQUIRED "Which street\?", and the log has .*"Where to\?"/],
  ['fails at the end', 'other-update', /comes to FAILED .*, and the log has COMPLETED "Sent"/],
  ['throws', 'other-end', /throws "A bug", and did not throw/],
  ['fetches outside of a step', 'effect', /calls https:\/\/prices.example\/ outside of a step/],
];

describe('a recorded task', () => {
  it('has no differences under the code that it was recorded with, and no effect happens', async () => {
    const order = await theOrder();
    expect(await replayTask(orderAgent(), order)).toEqual({
      taskId: order.taskId,
      turns: 3,
      attempts: 3,
      differences: [],
    });
  });

  it.each(changes)('shows a change of the code: %s', async (change, kind, message) => {
    const order = await theOrder();
    const { differences } = await replayTask(orderAgent(change), order, { idleMs: 500 });
    expect(differences.length).toBeGreaterThan(0);
    expect(differences[0]).toMatchObject({ kind, message: expect.stringMatching(message), attempt: 1 });
    const [{ position = 0 } = {}] = differences;
    expect(position).toBeLessThanOrEqual(order.facts.length);
  });

  it('may say something else of the same shape', async () => {
    const order = await theOrder();
    const options = { compare: 'shape', idleMs: 500 } as const;
    expect((await replayTask(orderAgent('another text'), order, options)).differences).toEqual([]);
    const { differences } = await replayTask(orderAgent('artifact instead of a status'), order, options);
    expect(differences).toMatchObject([{ kind: 'other-update' }]);
  });

  it('leaves clock and network as they were', async () => {
    const order = await theOrder();
    const { Date: date, fetch } = globalThis;
    await Promise.all([replayTask(orderAgent(), order), replayTask(orderAgent('throws'), order)]);
    expect([globalThis.Date === date, globalThis.fetch === fetch]).toEqual([true, true]);
    expect(Math.abs(Date.now() - Date.parse(new Date().toISOString()))).toBeLessThan(60_000);
  });
});

describe('a task that did not go straight', () => {
  /** Replays the task of one message under the code that it was recorded with, and under another one. */
  async function both(agent: Agent, other: Agent, options: ServeOptions = {}, wait = 0) {
    const { clock, send, recording } = recorder(agent, options);
    const id = await send('go');
    await clock.advance(wait);
    const recorded = await recording(id);
    const replay = async (code: Agent) => (await replayTask(code, recorded, { idleMs: 500 })).differences;
    return { same: await replay(agent), other: await replay(other), recorded };
  }

  it('because a step failed, which the agent caught', async () => {
    const agent = (fallback: string): Agent =>
      async function* ({ step }) {
        const found = await step('find', () => Promise.reject(new Error('Not there'))).catch(
          (error: Error) => `${fallback}: ${error.message}`,
        );
        yield completed(String(found));
      };
    const { same, other } = await both(agent('Nothing'), agent('Oh'));
    expect(same).toEqual([]);
    expect(other).toMatchObject([{ kind: 'other-update' }]);
  });

  it('because the agent threw, and ran again', async () => {
    const agent = (message: string): Agent =>
      async function* ({ attempt, step }) {
        yield working('Trying');
        await step('once', () => 1);
        if (attempt < 3) throw new Error(message);
        yield completed();
      };
    const retry = { retries: 3, backoff: { initialMs: 100 } };
    const { same, other, recorded } = await both(agent('Bad day'), agent('Worse day'), { retry }, 10_000);
    expect(recorded.facts.filter(({ fact }) => fact.type === 'turn-failed')).toHaveLength(2);
    expect(same).toEqual([]);
    expect(other).toMatchObject([
      { kind: 'other-end', attempt: 1, message: 'The agent throws "Worse day", and threw "Bad day"' },
      { kind: 'other-end', attempt: 2 },
    ]);
  });

  it('because a step waited for its next try, and then had none', async () => {
    const agent: Agent = async function* ({ step }) {
      const retry = { retries: 1, backoff: { initialMs: 60_000 } };
      await step('call', retry, () => Promise.reject(new Error('Busy')));
      yield completed();
    };
    const other: Agent = async function* ({ step }) {
      await step('call', () => 1).catch(() => {});
      yield completed();
    };
    const { same, other: found } = await both(agent, other, {}, 70_000);
    expect(same).toEqual([]);
    expect(found).toMatchObject([{ kind: 'other-end', attempt: 2 }]);
  });

  it('because its process closed in the middle, and another one ran it again', async () => {
    const pause = Promise.withResolvers<void>();
    const agent = (second: string): Agent =>
      async function* ({ attempt, step }) {
        yield working('One');
        await step('first', () => 1);
        if (attempt === 1) await pause.promise;
        await step(second, () => 2);
        yield completed();
      };
    const { clock, server, begin, send, recording } = recorder(agent('second'));
    const id = await send('go');
    const closed = server.close({ graceMs: 0 });
    await clock.advance(10);
    await closed;
    begin();
    await clock.advance(2_000);
    const recorded = await recording(id);
    expect(await replayTask(agent('second'), recorded)).toMatchObject({ attempts: 2, differences: [] });
    const { differences } = await replayTask(agent('other'), recorded);
    expect(differences).toMatchObject([{ kind: 'renamed-step', attempt: 2 }]);
  });

  it('because a client canceled it, or because it has not ended', async () => {
    const agent = (text: string): Agent =>
      async function* ({ step, signal }) {
        yield working(text);
        await step('wait', () => new Promise((resolve) => signal.addEventListener('abort', resolve)));
        yield completed();
      };
    const { clock, server, send, recording } = recorder(agent('Waiting'));
    const id = await send('go');
    const open = await recording(id);
    const canceled = rpc(server, 'CancelTask', { id });
    await clock.advance(20_000);
    await canceled;
    for (const recorded of [open, await recording(id)]) {
      expect((await replayTask(agent('Waiting'), recorded)).differences).toEqual([]);
      const { differences } = await replayTask(agent('Hanging'), recorded);
      expect(differences).toMatchObject([{ kind: 'other-update' }]);
    }
  });

  it('because it is a fork, which took over what its origin had recorded', async () => {
    const { clock, server, send, recording }: ReturnType<typeof recorder> = recorder(
      orderAgent('nothing', () => clock.now()),
    );
    const origin = await send('tea');
    await clock.advance(10);
    const forked = forkTask(server, origin, { from: 'charge' });
    await clock.advance(2_000);
    const recorded = await recording(await forked);
    expect(await replayTask(orderAgent(), recorded)).toMatchObject({ attempts: 2, differences: [] });
    const { differences } = await replayTask(orderAgent('fails at the end'), recorded);
    expect(differences).toMatchObject([{ kind: 'other-update', attempt: 2 }]);
  });

  it('because it was answered with a message', async () => {
    const { store, server } = recorder(() => reply('Hello'));
    const { message } = await rpc(server, 'SendMessage', { message: say('Hi', { contextId: 'c' }) });
    expect(message.parts).toEqual([{ text: 'Hello' }]);
    const { tasks } = await store.list(scope, { limit: 1, answered: true });
    const recorded = await recordTask(store, scope, tasks[0]?.taskId ?? '');
    if (!recorded) throw new Error('There is no log');
    expect((await replayTask(() => reply('Hello'), recorded)).differences).toEqual([]);
    expect((await replayTask(() => reply('Goodbye'), recorded)).differences).toMatchObject([
      {
        kind: 'other-update',
        message: 'The agent comes to a message "Goodbye", and the log has a message "Hello"',
      },
    ]);
  });

  it('because the agent catches that an update is refused', async () => {
    const agent: Agent = async function* () {
      try {
        yield artifact('', 'No name');
      } catch {
        yield completed('Without');
      }
    };
    const { same } = await both(agent, agent);
    expect(same).toEqual([]);
  });
});

describe('a turn', () => {
  it('that emits updates, takes messages and looks at other tasks is replayed', async () => {
    const gate = Promise.withResolvers<void>();
    const agent = (isLoud: boolean): Agent =>
      emitting(async (emit, turn) => {
        void emit(working(`${(await turn.context.tasks()).length} others`));
        await emit(artifact('log', 'a'));
        gate.resolve();
        const more = await turn.inbox.take();
        const [part] = more?.parts ?? [];
        const text = part && 'text' in part ? part.text : '';
        await emit(artifact('heard', isLoud ? text.toUpperCase() : text));
        await emit(completed());
      });
    const { send, recording } = recorder(agent(false));
    const first = await send('one');
    await gate.promise;
    await send('hello', first);
    const second = await send('two');
    await send('again', second);
    const recorded = await recording(second);
    expect(recorded.related).toHaveLength(1);
    expect((await replayTask(agent(false), recorded)).differences).toEqual([]);
    expect((await replayTask(agent(true), recorded)).differences).toMatchObject([{ kind: 'other-update' }]);
    const { related: _, ...alone } = recorded;
    expect((await replayTask(agent(false), alone)).differences).toMatchObject([
      { message: 'The agent comes to WORKING "0 others", and the log has WORKING "1 others"' },
    ]);
  });

  it('that runs steps side by side goes on in the recorded order', async () => {
    const [fast, middle] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const agent: Agent = async function* ({ step, memory }) {
      const order: string[] = [];
      const run = async (name: string, work: () => void | Promise<void>) => {
        await step(name, work);
        order.push(name);
      };
      await Promise.all([
        run('slow', () => middle.promise.then(nextRound)),
        run('fast', () => fast.resolve()),
        run('middle', () => fast.promise.then(nextRound).then(middle.resolve)),
      ]);
      await memory.set('order', order.join(' '));
      yield completed(order.join(' '));
    };
    const { clock, send, recording } = recorder(agent);
    const id = await send('go');
    await clock.advance(100);
    const recorded = await recording(id);
    expect(recorded.facts.at(-1)?.fact).toMatchObject({
      status: { message: { parts: [{ text: 'fast middle slow' }] } },
    });
    expect((await replayTask(agent, recorded)).differences).toEqual([]);
  });

  it('that goes on with nothing is given up, and one of no step that fails is told apart', async () => {
    const agent: Agent = async function* ({ step }) {
      yield working();
      await step('a', () => 1);
      yield failed({ code: 'NO', message: 'No' });
    };
    const { send, recording } = recorder(agent);
    const recorded = await recording(await send('go'));
    const hangs: Agent = async function* () {
      yield working();
      await new Promise(() => {});
    };
    const stuck = await replayTask(hangs, recorded, { idleMs: 100 });
    expect(stuck.differences).toMatchObject([
      { kind: 'stuck', message: 'The agent goes on with nothing for 100 ms' },
    ]);
    const throws: Agent = async function* () {
      yield working();
      throw new NonRetryableError('Gone');
    };
    expect((await replayTask(throws, recorded)).differences).toMatchObject([{ kind: 'other-end' }]);
    expect((await replayTask(agent, { taskId: 'none', facts: [] })).attempts).toBe(0);
  });
});
