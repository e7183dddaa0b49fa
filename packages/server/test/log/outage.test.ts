import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { change, switchable, unavailable } from '../../../../test/kit/faulty-store.ts';
import { brief, collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serveWith } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  append,
  artifact,
  completed,
  inputRequired,
  text,
  working,
} from '../../src/index.ts';

/** What clients get while the store does not answer, and what goes on meanwhile. */

const now = { returnImmediately: true };
const serve = serveWith({ timeouts: { leaseMs: 2_000, sweepMs: 50, storeMs: 100 } });

const asking: Agent = async function* ({ messages }) {
  yield messages.length === 1 ? inputRequired('Well?') : completed();
};

/** The reply of a server to a call over HTTP. */
async function post(server: AgentServer, method: string, params: object) {
  const response = await server.fetch(
    new Request('http://localhost/', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    }),
  );
  const { error } = await response.json();
  return { retryAfter: response.headers.get('retry-after'), info: error?.data?.[0] };
}

describe.each(['hangs', 'fails'])('a store that %s', (how) => {
  const broken = () => {
    const state = { isDown: false, store: memoryStore() as TaskStore };
    const memory = state.store;
    state.store = new Proxy(memory, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (!state.isDown) return member.apply(target, args);
          return how === 'hangs' ? new Promise(() => {}) : Promise.reject(unavailable());
        };
      },
    });
    return state;
  };

  it.each(['GetTask', 'SubscribeToTask', 'CancelTask', 'SendMessage', 'SendStreamingMessage'])(
    'makes %s UNAVAILABLE, with the id of the task',
    async (method) => {
      const state = broken();
      const server = serve(asking, { store: state.store });
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      state.isDown = true;
      const params = method.startsWith('Send')
        ? { message: say('on', { taskId: task.id }) }
        : { id: task.id };
      const { info, retryAfter } = await post(server, method, params);
      expect(info).toMatchObject({ reason: 'UNAVAILABLE', metadata: { taskId: task.id } });
      expect(Number(retryAfter)).toBeGreaterThan(0);
    },
  );

  it('makes ListTasks UNAVAILABLE', async () => {
    const state = broken();
    const server = serve(asking, { store: state.store });
    state.isDown = true;
    expect((await post(server, 'ListTasks', {})).info).toMatchObject({ reason: 'UNAVAILABLE' });
    expect(await server.ready()).toBe(false);
  });

  it.each(['SendMessage', 'SendStreamingMessage'])(
    'makes a first %s UNAVAILABLE, with the id under which its task may be found',
    async (method) => {
      const state = broken();
      const server = serve(asking, { store: state.store, messages: { idempotency: true } });
      const message = say('go');
      state.isDown = true;
      const { info, retryAfter } = await post(server, method, { message });
      expect(info).toMatchObject({ reason: 'UNAVAILABLE', metadata: { taskId: expect.any(String) } });
      expect(Number(retryAfter)).toBeGreaterThan(0);
      state.isDown = false;
      const { task } = await rpc(server, 'SendMessage', { message });
      expect(task.id).toBe(info.metadata.taskId);
    },
  );
});

it.each([
  ['GetTaskPushNotificationConfig', 'getPushConfig', { id: 'hook' }],
  ['ListTaskPushNotificationConfigs', 'listPushConfigs', {}],
  ['DeleteTaskPushNotificationConfig', 'removePushConfig', { id: 'hook' }],
])('%s is UNAVAILABLE if the store does not answer', async (method, call, params) => {
  const server = serve(asking, { store: { ...memoryStore(), [call]: () => new Promise(() => {}) } });
  const { task } = await rpc(server, 'SendMessage', { message: say('go') });
  const { info } = await post(server, method, { taskId: task.id, ...params });
  expect(info).toMatchObject({ reason: 'UNAVAILABLE' });
});

describe('while the store is away', () => {
  it('a blocking wait goes on, and hears how the task ended', async () => {
    const state = switchable(memoryStore());
    const go = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await go.promise;
        for (let n = 0; n < 20; n++) yield n === 0 ? artifact('out', text('0')) : append('out', text(`${n}`));
        yield completed();
      },
      { store: state.store },
    );
    let isOver = false;
    const sent = rpc(server, 'SendMessage', { message: say('go') }).finally(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(server.load.turns).toBe(1));
    state.isDown = true;
    go.resolve();
    // The turn cannot write, and the wait cannot read.
    await eventually(() => expect(state.refused).toBeGreaterThan(10));
    expect(isOver).toBe(false);
    state.isDown = false;
    const { task } = await sent;
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts[0].parts).toHaveLength(20);
  });

  it('a blocking wait that must read a long log again goes on until it can', async () => {
    const memory = memoryStore();
    let furthest = 0;
    let refusals = 3;
    const store = change(memory, {
      readFacts:
        (readFacts) =>
        async (...args) => {
          const [, , after, limit] = args;
          if (limit === 1) return readFacts(...args);
          // The tail of a log only goes forward. What goes back is the send, which waits from its message on.
          if (after < furthest && refusals > 0) {
            refusals--;
            throw unavailable();
          }
          const facts = await readFacts(...args);
          furthest = Math.max(furthest, facts.at(-1)?.version ?? 0);
          return facts;
        },
    });
    // More facts than a process keeps of one log.
    const talking: Agent = async function* () {
      yield artifact('out', text('0'));
      for (let n = 1; n < 1_300; n++) yield append('out', text(`${n}`));
      yield completed();
    };
    const message = say('go');
    await rpc(serve(talking, { store: memory, messages: { idempotency: true } }), 'SendMessage', { message });
    const second = serve(talking, { store, messages: { idempotency: true }, run: 'workers' });
    const { task } = await rpc(second, 'SendMessage', { message });
    expect([task.status.state, refusals]).toEqual(['TASK_STATE_COMPLETED', 0]);
  });

  it('a running stream gets an error as its last event, and the rest when it resumes', async () => {
    const state = switchable(memoryStore());
    const go = Promise.withResolvers<void>();
    const server = serve(
      async function* () {
        yield working();
        await go.promise;
        yield completed();
      },
      { store: state.store },
    );
    const seen: string[] = [];
    let lastId = '';
    const following = (async () => {
      for await (const { id, event } of stream(server, 'SendStreamingMessage', { message: say('go') })) {
        seen.push(brief(event));
        lastId = id ?? '';
        if (seen.length === 2) state.isDown = true;
      }
    })();
    await expect(following).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    state.isDown = false;
    go.resolve();
    expect(seen).toEqual(['task SUBMITTED', 'WORKING']);
    const { tasks } = await rpc(server, 'ListTasks', {});
    const rest = stream(server, 'SubscribeToTask', { id: tasks[0].id }, { 'last-event-id': lastId });
    expect(await collect(rest)).toEqual(['COMPLETED']);
  });

  it('a follower that could not subscribe at first still gets every event', async () => {
    const memory = memoryStore();
    const go = Promise.withResolvers<void>();
    let refusals = 2;
    const store = change(memory, {
      subscribe: (subscribe) => async (topic, notify) => {
        if ('taskId' in topic && refusals > 0) {
          refusals--;
          throw unavailable();
        }
        return subscribe(topic, notify);
      },
    });
    const front = serve(asking, { store, run: 'workers' });
    const worker = serve(
      async function* () {
        yield working();
        await go.promise;
        yield completed();
      },
      { store: memory },
    );
    const sent = rpc(front, 'SendMessage', { message: say('go') });
    await eventually(() => expect(refusals).toBe(0));
    go.resolve();
    const { task } = await sent;
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await rpc(worker, 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('a turn waits with its update for longer than its lease, and goes on if no other process took the task', async () => {
    const state = switchable(memoryStore());
    let refused = 0;
    const store = change(state.store, {
      renew: (renew) => (leases, ttlMs) => {
        if (state.isDown) refused++;
        return renew(leases, ttlMs);
      },
    });
    let attempts = 0;
    let signal: AbortSignal | undefined;
    const wrote: string[] = [];
    const server = serve(
      async function* (turn) {
        attempts++;
        ({ signal } = turn);
        yield working('one');
        wrote.push('one');
        state.isDown = true;
        yield working('two');
        wrote.push('two');
        yield completed();
      },
      { store, timeouts: { leaseMs: 200 } },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    // The first comes after a third of the lease, each of the others after a tenth of it.
    await vi.waitFor(() => expect(refused).toBeGreaterThan(10));
    expect([wrote, signal?.aborted]).toEqual([['one'], false]);
    state.isDown = false;
    await vi.waitFor(async () => {
      const { status } = await rpc(server, 'GetTask', { id: task.id });
      expect(status.state).toBe('TASK_STATE_COMPLETED');
    });
    expect([wrote, attempts]).toEqual([['one', 'two'], 1]);
  });
});

describe('a server that closes', () => {
  it('ends the streams of tasks that wait for their clients', async () => {
    const server = serve(asking);
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    const following = collect(stream(server, 'SubscribeToTask', { id: task.id }));
    const canceling = serve(asking);
    await vi.waitFor(() => expect(server.load.tasks).toBe(1));
    await server.close({ graceMs: 0 });
    expect(await following).toEqual(['task INPUT_REQUIRED']);
    await canceling.close();
  });
});
