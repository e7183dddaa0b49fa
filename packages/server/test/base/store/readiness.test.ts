import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { redisStore } from '@batonjs/store-redis';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { canStart, startRedis } from '../../../../../test/support/redis.ts';
import {
  type Agent,
  type AgentServerOptions,
  canceled,
  completed,
  taskAgent,
  working,
} from '../../../src/index.ts';

const redis = (await canStart()) ? await startRedis() : undefined;
afterAll(() => redis?.stop());

function observed(agent: Agent, options: Partial<AgentServerOptions> = {}) {
  const logged: (readonly [string, string, unknown])[] = [];
  const server = serve(agent, {
    logger: (level, message, { reason }) => logged.push([level, message, reason]),
    ...options,
  });
  return { server, logged };
}

const quick = taskAgent(async function* () {
  yield completed();
});

/** A store whose probe fails on demand, and a clock that the test moves. */
function probed() {
  const state = { refusal: undefined as StoreError | undefined, probes: 0, ms: 0 };
  const store: TaskStore = {
    ...memoryStore(),
    async probe() {
      state.probes++;
      if (state.refusal) throw state.refusal;
    },
  };
  const { server, logged } = observed(quick, { store, clock: { monotonic: () => state.ms } });
  return { server, logged, state };
}

describe('a server is ready', () => {
  it('while its store takes writes, and says why not and when that changes', async () => {
    const { server, logged, state } = probed();
    expect(await server.readiness()).toEqual({ isReady: true });
    state.refusal = new StoreError('UNAVAILABLE', 'tasks.db cannot grow', { trouble: 'disk-full' });
    for (let n = 0; n < 3; n++) {
      state.ms += 1_000;
      expect(await server.readiness()).toEqual({
        isReady: false,
        reason: 'disk-full',
        message: 'tasks.db cannot grow',
      });
      expect(await server.ready()).toBe(false);
    }
    state.refusal = undefined;
    state.ms += 1_000;
    expect(await server.ready()).toBe(true);
    state.ms += 5_000;
    await server.ready();
    await vi.waitFor(() =>
      expect(logged).toEqual([
        ['error', 'The store fails: tasks.db cannot grow', 'disk-full'],
        ['warn', 'The store works again', undefined],
      ]),
    );
  });

  it('by one probe a second, however often it is asked', async () => {
    const { server, state } = probed();
    await Promise.all(Array.from({ length: 50 }, () => server.ready()));
    state.ms = 999;
    await server.ready();
    expect(state.probes).toBe(1);
    state.ms = 1_000;
    await server.ready();
    expect(state.probes).toBe(2);
  });

  it('until it closes', async () => {
    const { server } = probed();
    await server.close();
    expect(await server.readiness()).toMatchObject({ isReady: false, reason: 'closing' });
  });

  it('where a store without a probe can be read', async () => {
    const memory = memoryStore();
    const { server } = observed(quick, {
      store: { ...memory, ping: async () => Promise.reject(new Error('gone')) },
    });
    expect(await server.readiness()).toEqual({ isReady: false, reason: 'failing', message: 'gone' });
  });
});

describe.skipIf(!redis)('with Redis out of memory', () => {
  it('a server is not ready, its turns keep their leases, and a task can be canceled', async () => {
    const store = redisStore(redis!.url);
    onTestFinished(() => store.close());
    const aborted = Promise.withResolvers<void>();
    const { server } = observed(
      taskAgent(async function* ({ signal }) {
        signal.addEventListener('abort', () => aborted.resolve());
        yield working();
        await aborted.promise;
        yield canceled('Stopped');
      }),
      { store },
    );
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
    const stateOf = async () => (await rpc(server, 'GetTask', { id: task.id })).status.state;
    await vi.waitFor(async () => expect(await stateOf()).toBe('TASK_STATE_WORKING'), { timeout: 10_000 });

    await redis!.cli('CONFIG', 'SET', 'maxmemory', '1');
    expect(await server.readiness()).toMatchObject({ isReady: false, reason: 'out-of-memory' });
    await expect(rpc(server, 'SendMessage', { message: say('more'), configuration })).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
    });
    const key = `baton:{0}:task:${task.id}\0["agent","",""]`;
    // The lease is renewed: its end moves on although there is no memory.
    const until = async () =>
      JSON.parse(await redis!.cli('EVAL', "return redis.call('HGET', ARGV[1], 'row')", '0', key)).leaseUntil;
    const first = await until();
    await vi.waitFor(async () => expect(await until()).toBeGreaterThan(first), { timeout: 15_000 });
    expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');

    await redis!.cli('CONFIG', 'SET', 'maxmemory', '0');
    await vi.waitFor(async () => expect(await server.ready()).toBe(true), { timeout: 10_000 });
  });
});
