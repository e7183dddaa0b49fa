import { type Commit, StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { untilAborted } from '../../../../test/kit/until-aborted.ts';
import { systemClock } from '../../src/base/timing/clock.ts';
import {
  type Agent,
  type AgentServerOptions,
  append,
  artifact,
  authRequired,
  completed,
  failed,
  inputRequired,
  text,
} from '../../src/index.ts';

const now = { returnImmediately: true };

/** Until the log has a fact of this type. */
const untilFact = (store: TaskStore, taskId: string, type: string) =>
  eventually(async () =>
    expect((await store.readFacts(scope, taskId, 0, 1_000)).map(({ fact }) => fact.type)).toContain(type),
  );

/** The store, which does this before the first commit of that kind, unseen by the server that writes it. */
function beforeFirst(
  store: TaskStore,
  isMeant: (one: Commit) => boolean,
  act: (one: Commit) => Promise<unknown>,
) {
  let isFirst = true;
  return change(store, {
    commit: (commit) => async (one) => {
      if (isFirst && isMeant(one)) {
        isFirst = false;
        await act(one);
      }
      return commit(one);
    },
    subscribe: () => async () => () => {},
  });
}

const isRelease = ({ turn }: Commit): boolean => turn?.release === true;
const unnotified = { timeouts: { sweepMs: Number.POSITIVE_INFINITY } };

describe('at the moment at which a turn gives its task back', () => {
  it('a message that arrives gets a turn', async () => {
    const memory = memoryStore();
    const agent: Agent = async function* ({ text: said, messages }) {
      yield messages.length === 1 ? inputRequired('Well?') : completed(said);
    };
    const front = serve(agent, { store: memory, run: 'workers' });
    const store = beforeFirst(memory, isRelease, ({ taskId }) =>
      rpc(front, 'SendMessage', { message: say('and this', { taskId }), configuration: now }),
    );
    serve(agent, { store });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
    const ended = await until(front, task.id, 'COMPLETED');
    expect(ended.status.message?.parts).toEqual([{ text: 'and this' }]);
  });

  it('a wake-up gets a turn', async () => {
    const memory = memoryStore();
    let key = '';
    const agent: Agent = async function* ({ wakeKey }) {
      const isFirst = key === '';
      key = wakeKey;
      yield isFirst ? inputRequired('Well?') : completed('awake');
    };
    const front = serve(agent, { store: memory, run: 'workers' });
    serve(agent, { store: beforeFirst(memory, isRelease, () => front.wake(key)) });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
    const ended = await until(front, task.id, 'COMPLETED');
    expect(ended.status.message?.parts).toEqual([{ text: 'awake' }]);
  });

  it.each([
    ['asks for credentials and ends', authRequired('Who are you?')],
    ['asks for more', inputRequired('Well?')],
  ])('a cancel request ends the task of an agent that %s', async (_, update) => {
    const memory = memoryStore();
    const agent: Agent = async function* () {
      yield update;
    };
    const front = serve(agent, { store: memory, run: 'workers' });
    const canceled = Promise.withResolvers<unknown>();
    const store = beforeFirst(memory, isRelease, async ({ taskId }) => {
      canceled.resolve(rpc(front, 'CancelTask', { id: taskId }));
      await untilFact(memory, taskId, 'cancel-requested');
    });
    serve(agent, { store, ...unnotified });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
    await until(front, task.id, 'CANCELED');
    expect(await canceled.promise).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });
});

describe('at the moment at which a task fails, a cancel request ends it as CANCELED', () => {
  const fails = ({ facts }: Commit) =>
    facts.some((fact) => fact.type === 'status-changed' && fact.status.state === 'TASK_STATE_FAILED');
  const never: Agent = async function* () {
    yield artifact('out', text('1'));
    await new Promise(() => {});
  };

  it.each<[string, Agent, Partial<AgentServerOptions>?]>([
    [
      'where its agent throws',
      async function* () {
        yield artifact('out', text('1'));
        throw new Error('Boom');
      },
    ],
    [
      'where its agent says so',
      async function* () {
        yield failed({ code: 'TRY_AGAIN', message: 'It failed', retryable: true });
      },
    ],
    ['where its time is over', never, { timeouts: { taskMs: 20 } }],
    ['where its server closes', never, { restart: 'fail' }],
    ['where its process died', never, { restart: 'fail', timeouts: { leaseMs: 50 } }],
  ])('%s', async (_, agent, options = {}) => {
    const memory = memoryStore();
    const front = serve(agent, { store: memory, run: 'workers' });
    const canceled = Promise.withResolvers<unknown>();
    const store = beforeFirst(memory, fails, async ({ taskId }) => {
      canceled.resolve(rpc(front, 'CancelTask', { id: taskId }));
      await untilFact(memory, taskId, 'cancel-requested');
    });
    // A process that renews no lease is as one that died.
    const dies = options.timeouts?.leaseMs !== undefined;
    const first = serve(agent, {
      ...options,
      timeouts: { ...unnotified.timeouts, ...options.timeouts },
      store: dies ? change(memory, { renew: () => async (leases) => [...leases] }) : store,
    });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
    if (options.restart) await untilFact(memory, task.id, 'turn-started');
    if (dies) serve(agent, { ...options, store });
    else if (options.restart) await first.close({ graceMs: 0 });
    const ended = await until(front, task.id, 'CANCELED');
    expect(JSON.stringify(ended.status)).not.toContain('retryable');
    expect(await canceled.promise).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
  });
});

it('a turn that ends its task by itself is over, and not lost to another process', async () => {
  const signals: AbortSignal[] = [];
  const server = serve(async function* ({ signal }) {
    signals.push(signal);
    yield inputRequired('Well?');
  });
  await rpc(server, 'SendMessage', { message: say('go') });
  await eventually(() => expect(signals[0]?.reason).toEqual(new Error('The turn is over')));
});

const isArtifact = ({ facts }: Commit): boolean => facts.some(({ type }) => type === 'artifact-updated');

it('an agent whose task was taken by a process that wrote nothing yet does not get past its update', async () => {
  const memory = memoryStore();
  const store = beforeFirst(memory, isArtifact, async ({ taskId, writer }) => {
    const queue = 'agent';
    await memory.renew([{ ...writer!, scope, taskId, queue, cause: 'committed' }], 0);
    const taken = await memory.claim({
      queue,
      holder: 'another process',
      ttlMs: 0,
      limit: 1,
      task: { scope, taskId },
    });
    expect(taken).toMatchObject([{ cause: 'expired', fence: writer!.fence + 1 }]);
  });
  const began: number[] = [];
  const passed: number[] = [];
  const agent: Agent = async function* ({ attempt }) {
    began.push(attempt);
    yield artifact('out', text(String(attempt)));
    passed.push(attempt);
    yield completed();
  };
  const server = serve(agent, { store, restart: 'rerun', timeouts: { sweepMs: 20 } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  const ended = await until(server, task.id, 'COMPLETED');
  expect([began, passed]).toEqual([[1, 2], [2]]);
  expect(ended.artifacts).toMatchObject([{ parts: [{ text: '2' }] }]);
  const types = (await memory.readFacts(scope, task.id, 0, 100)).map(({ fact }) => fact.type);
  expect(types.filter((type) => type === 'artifact-updated')).toHaveLength(1);
});

it('a task that is given back is not called lost because the answer of the store was', async () => {
  const memory = memoryStore();
  const events: string[] = [];
  let releases = 0;
  const store = change(memory, {
    commit: (commit) => async (one) => {
      const isFirstRelease = one.facts.length === 0 && releases++ === 0;
      const committed = await commit(one);
      if (isFirstRelease) throw unavailable();
      return committed;
    },
  });
  const gate = Promise.withResolvers<void>();
  const agent: Agent = async function* ({ attempt }) {
    yield artifact('out', text(String(attempt)));
    if (attempt === 1) await gate.promise;
    yield completed();
  };
  const onEvent: AgentServerOptions['onEvent'] = ({ type }) => type !== 'transition' && events.push(type);
  const first = serve(agent, { store, restart: 'rerun', onEvent });
  const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration: now });
  await untilFact(memory, task.id, 'artifact-updated');
  await first.close({ graceMs: 0 });
  // The release was repeated, and refused because it had been done.
  expect([releases, events]).toEqual([2, []]);
  await until(serve(agent, { store: memory, restart: 'rerun' }), task.id, 'COMPLETED');
});

it('a task is called lost if the store refuses to give it back because it lost facts', async () => {
  const memory = memoryStore();
  const events: string[] = [];
  const store = change(memory, {
    commit: (commit) => (one) =>
      one.facts.length === 0
        ? Promise.reject(new StoreError('VERSION_CONFLICT', 'The log is shorter'))
        : commit(one),
  });
  const agent: Agent = async function* () {
    yield artifact('out', text('1'));
    await new Promise(() => {});
  };
  const onEvent: AgentServerOptions['onEvent'] = ({ type }) => type !== 'transition' && events.push(type);
  const server = serve(agent, { store, restart: 'rerun', onEvent });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  await untilFact(memory, task.id, 'artifact-updated');
  await server.close({ graceMs: 0 });
  expect(events).toEqual(['lost']);
});

it('a cancel request starts one grace period, however often the agent writes after it', async () => {
  const cancelGraceMs = 3_599_999;
  const graces: number[] = [];
  const sleep: typeof systemClock.sleep = (ms, signal) => {
    if (ms === cancelGraceMs) graces.push(ms);
    return systemClock.sleep(ms, signal);
  };
  const agent: Agent = async function* ({ signal }) {
    yield artifact('out', text('1'));
    await untilAborted(signal);
    for (const n of ['2', '3', '4']) yield append('out', text(n));
  };
  const server = serve(agent, { clock: { sleep }, timeouts: { cancelGraceMs } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
  const canceled = await rpc(server, 'CancelTask', { id: task.id });
  expect(canceled.status.state).toBe('TASK_STATE_CANCELED');
  expect(canceled.artifacts[0].parts).toHaveLength(4);
  expect(graces).toEqual([cancelGraceMs]);
});

describe('when a server closes', () => {
  it.each(['fail', 'rerun'] as const)(
    'a task of which a cancel was requested meanwhile is canceled (restart: %s)',
    async (restart) => {
      const memory = memoryStore();
      const agent: Agent = async function* () {
        yield artifact('out', text('1'));
        await new Promise(() => {});
      };
      const front = serve(agent, { store: memory, run: 'workers', restart });
      const closed = Promise.withResolvers<unknown>();
      // The server learns of the cancel request only by the write that is under way.
      const store = beforeFirst(memory, isArtifact, async ({ taskId }) => {
        rpc(front, 'CancelTask', { id: taskId }).catch(() => {});
        await untilFact(memory, taskId, 'cancel-requested');
        closed.resolve(server.close({ graceMs: 0 }));
      });
      const server = serve(agent, { store, ...unnotified, restart });
      const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
      await closed.promise;
      const ended = await until(front, task.id, 'CANCELED');
      expect(ended.artifacts).toHaveLength(1);
    },
  );

  it('a task whose agent does not stop though a cancel was requested is canceled', async () => {
    const memory = memoryStore();
    const agent: Agent = async function* () {
      yield artifact('out', text('1'));
      await new Promise(() => {});
    };
    const front = serve(agent, { store: memory, run: 'workers' });
    const server = serve(agent, { store: memory, timeouts: { cancelGraceMs: 3_600_000 } });
    const { task } = await rpc(front, 'SendMessage', { message: say('go'), configuration: now });
    await untilFact(memory, task.id, 'artifact-updated');
    const canceled = rpc(front, 'CancelTask', { id: task.id });
    await untilFact(memory, task.id, 'cancel-requested');
    await server.close({ graceMs: 0 });
    expect((await canceled).status.state).toBe('TASK_STATE_CANCELED');
  });
});
