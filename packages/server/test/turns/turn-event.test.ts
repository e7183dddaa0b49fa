import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type Agent, type AgentServerOptions, completed, inputRequired, working } from '../../src/index.ts';
import type { TurnEvent } from '../../src/turns/turn-dependencies.ts';

/** Short enough that a dead process is missed soon, long enough for a busy machine. */
const leaseMs = 900;

/** A server, the turn events of its hook, and the warnings of its log with their details. */
function observed(agent: Agent, options: Partial<AgentServerOptions> = {}) {
  const events: TurnEvent[] = [];
  const logged: unknown[] = [];
  const server = serve(agent, {
    onEvent: (event) => 'attempt' in event && events.push(event),
    logger: (level, message, { taskId, attempt, maxAttempts }) => {
      if (level === 'warn') logged.push([message, { taskId, attempt, maxAttempts }]);
    },
    ...options,
    timeouts: { leaseMs, storeMs: 500, ...options.timeouts },
  });
  return { server, events, logged };
}

/** The store as a process sees it until it dies: its calls are never answered after that, and do nothing. */
function mortal(store: TaskStore) {
  let dead = false;
  const doomed = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => (dead ? new Promise(() => {}) : member.apply(target, args));
    },
  });
  return {
    doomed,
    kill() {
      dead = true;
    },
  };
}

const start = async (server: Parameters<typeof rpc>[0]) => {
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  return task as { id: string; contextId: string };
};

const hanging: Agent = async function* ({ attempt }) {
  yield working();
  if (attempt === 1) await new Promise(() => {});
  yield completed();
};

describe('each of these is reported once, by the log and by `onEvent`:', () => {
  it('a take-over and the rerun of the turn', async () => {
    const store = memoryStore();
    const { doomed, kill } = mortal(store);
    const first = observed(hanging, { store: doomed, restart: { maxAttempts: 5 } });
    const { id: taskId, contextId } = await start(first.server);
    await until(first.server, taskId, 'WORKING');
    kill();
    const second = observed(hanging, { store, restart: { maxAttempts: 5 } });
    await until(second.server, taskId, 'COMPLETED');
    expect(second.events).toEqual([
      { type: 'taken-over', taskId, contextId, attempt: 1, maxAttempts: 5 },
      { type: 'rerun', taskId, contextId, attempt: 2, maxAttempts: 5 },
    ]);
    expect(second.logged).toEqual([
      ['A turn was taken over: the lease of its process expired', { taskId, attempt: 1, maxAttempts: 5 }],
      ['A turn is run again', { taskId, attempt: 2, maxAttempts: 5 }],
    ]);
  });

  it("a take-over that fails the task under 'fail'", async () => {
    const store = memoryStore();
    const { doomed, kill } = mortal(store);
    const first = observed(hanging, { store: doomed });
    const { id: taskId, contextId } = await start(first.server);
    await until(first.server, taskId, 'WORKING');
    kill();
    const second = observed(hanging, { store });
    await until(second.server, taskId, 'FAILED');
    expect(second.events).toEqual([{ type: 'taken-over', taskId, contextId, attempt: 1, maxAttempts: 1 }]);
    expect(second.logged).toHaveLength(1);
  });

  it('a rerun of a turn that a closing server handed over, which is no take-over', async () => {
    const store = memoryStore();
    const first = observed(hanging, { store, restart: 'rerun' });
    const { id: taskId, contextId } = await start(first.server);
    await until(first.server, taskId, 'WORKING');
    await first.server.close({ graceMs: 0 });
    expect(first.events).toEqual([]);
    const second = observed(hanging, { store, restart: 'rerun' });
    await until(second.server, taskId, 'COMPLETED');
    expect(second.events).toEqual([{ type: 'rerun', taskId, contextId, attempt: 2, maxAttempts: 3 }]);
  });

  it.each<[string, Agent]>([
    ['whose agent hangs', hanging],
    [
      'whose agent goes on writing',
      async function* ({ signal }) {
        yield working();
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield completed();
      },
    ],
  ])('a lost lease of a turn %s', async (_what, agent) => {
    const refused = change(memoryStore(), { renew: () => async () => [] });
    const { server, events, logged } = observed(agent, { store: refused, restart: 'rerun' });
    const { id: taskId, contextId } = await start(server);
    await vi.waitFor(() => expect(events.some(({ type }) => type === 'lost')).toBe(true), {
      timeout: 20_000,
    });
    expect(events[0]).toEqual({ type: 'lost', taskId, contextId, attempt: 1, maxAttempts: 3 });
    expect(logged[0]).toEqual(['A turn lost its task', { taskId, attempt: 1, maxAttempts: 3 }]);
    expect(events.filter(({ type, attempt }) => type === 'lost' && attempt === 1)).toHaveLength(1);
  });

  it.each<[string, Agent, string]>([
    [
      'ends its task',
      async function* () {
        yield completed();
      },
      'COMPLETED',
    ],
    [
      'asks a question',
      async function* () {
        yield inputRequired('Which one?');
      },
      'INPUT_REQUIRED',
    ],
  ])('no lost lease if the lease is renewed while a turn %s', async (_what, agent, state) => {
    const over = Promise.withResolvers<void>();
    const renewed = Promise.withResolvers<void>();
    const store = change(memoryStore(), {
      // Stored, but the process does not know it before its leases were renewed.
      commit: (commit) => async (one) => {
        const committed = await commit(one);
        if (!one.facts.some((fact) => fact.type === 'turn-ended')) return committed;
        over.resolve();
        await renewed.promise;
        return committed;
      },
      renew: (renew) => async (leases, ttlMs) => {
        await over.promise;
        const kept = await renew(leases, ttlMs);
        renewed.resolve();
        return kept;
      },
    });
    const { server, events } = observed(agent, { store, restart: 'rerun', timeouts: { storeMs: 30_000 } });
    const { id: taskId } = await start(server);
    await until(server, taskId, state);
    await server.close();
    expect(events).toEqual([]);
  });

  it.each([
    ['because another process has the task', 'FENCED', /^It has another holder$/],
    ['because it lost facts of the task', 'VERSION_CONFLICT', /^The store lost facts of task/],
  ] as const)('a write that the store refuses %s', async (_why, code, message) => {
    const store = change(memoryStore(), {
      commit: (commit) => (one) =>
        one.facts.some(({ type }) => type === 'step-completed')
          ? Promise.reject(new StoreError(code, 'It has another holder'))
          : commit(one),
    });
    let refusal: unknown;
    const { server, events } = observed(
      async function* ({ step }) {
        await step('charge', () => 1).catch((error) => {
          refusal = error;
          throw error;
        });
        yield completed();
      },
      { store },
    );
    const { id: taskId, contextId } = await start(server);
    await vi.waitFor(() => expect(events).not.toEqual([]), { timeout: 20_000 });
    expect(events[0]).toEqual({ type: 'lost', taskId, contextId, attempt: 1, maxAttempts: 1 });
    expect(refusal).toMatchObject({ code: 'FENCED', message: expect.stringMatching(message) });
  });

  it('a cancel that the agent did not heed', async () => {
    const { server, events, logged } = observed(hanging, { timeouts: { cancelGraceMs: 1 } });
    const { id: taskId, contextId } = await start(server);
    await until(server, taskId, 'WORKING');
    await rpc(server, 'CancelTask', { id: taskId });
    await until(server, taskId, 'CANCELED');
    expect(events).toEqual([{ type: 'cancel-forced', taskId, contextId, attempt: 1, maxAttempts: 1 }]);
    expect(logged).toEqual([
      ['A canceled agent did not stop in time', { taskId, attempt: 1, maxAttempts: 1 }],
    ]);
  });
});

it('a hook that throws is logged and changes nothing', async () => {
  const errors: unknown[] = [];
  const { server } = observed(hanging, {
    timeouts: { cancelGraceMs: 1 },
    onEvent: ({ type }) => {
      if (type !== 'transition') throw new Error('broken hook');
    },
    logger: (level, message) => level === 'error' && errors.push(message),
  });
  const { id } = await start(server);
  await rpc(server, 'CancelTask', { id });
  await until(server, id, 'CANCELED');
  expect(errors).toEqual(['The event hook failed']);
});
