import type { Task } from '@batonjs/protocol';
import { StoreError, type TaskStore } from '@batonjs/store';
import { describe, expect, it, vi } from 'vitest';
import { collect, rpc, say, stream } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { slowStore } from '../../../../test/kit/slow-store.ts';
import { until } from '../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  append,
  artifact,
  authRequired,
  completed,
  emitting,
  inputRequired,
  text,
  working,
} from '../../src/index.ts';

/**
 * Each update of an agent is stored once, also under cancels, slow stores and failed writes. `newStore` makes an empty store, which the caller
 * closes. The scenarios run with each delay of the store in ms.
 */
export function lossScenarios(newStore: () => TaskStore, delays: readonly number[] = [0, 2, 5, 10]): void {
  const chunks = 50;
  const now = { returnImmediately: true };
  let server: AgentServer;

  const start = (agent: Agent, store: TaskStore = newStore(), options: Partial<AgentServerOptions> = {}) => {
    server = serve(agent, { store, ...options });
    return server;
  };

  async function* count(to = chunks, afterFirst?: Promise<void>) {
    yield working();
    for (let i = 0; i < to; i++) {
      if (i === 1) await afterFirst;
      yield i === 0 ? artifact('count', text('0')) : append('count', text(String(i)));
    }
  }

  const counted = (task: Task) =>
    task.artifacts?.[0]?.parts.map((part) => ('text' in part ? Number(part.text) : -1));
  const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

  describe.each(delays)('with a store that takes %i ms', (ms) => {
    const store = () => slowStore(newStore(), ms);

    it('keeps each chunk once when a cancel comes while the agent appends', async () => {
      start(async function* () {
        yield* count();
        yield completed();
      }, store());
      const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
      await vi.waitFor(async () =>
        expect(counted(await rpc(server, 'GetTask', { id: task.id }))?.length).toBeGreaterThan(2),
      );
      await rpc(server, 'CancelTask', { id: task.id }).catch((error) =>
        expect(error.reason).toBe('TASK_NOT_CANCELABLE'),
      );
      const ended: Task = await rpc(server, 'GetTask', { id: task.id });
      expect(counted(ended)).toEqual(upTo(counted(ended)?.length ?? 0));
      expect(['TASK_STATE_CANCELED', 'TASK_STATE_COMPLETED']).toContain(ended.status.state);
    });

    it('keeps each chunk once when a message follows AUTH_REQUIRED', async () => {
      start(async function* ({ inbox }) {
        yield authRequired('Log in');
        await inbox.take();
        yield* count();
        yield completed();
      }, store());
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
      const after = await rpc(server, 'SendMessage', { message: say('done', { taskId: task.id }) });
      expect(after.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect(counted(after.task)).toEqual(upTo(chunks));
    });

    it('runs one turn at a time: a second message waits in the log', async () => {
      let running = 0;
      let most = 0;
      let turns = 0;
      start(async function* () {
        most = Math.max(most, ++running);
        turns++;
        yield* count(20);
        running--;
        yield turns === 1 ? inputRequired('More?') : completed();
      }, store());
      const { task } = await rpc(server, 'SendMessage', { message: say('one'), configuration: now });
      const second = await rpc(server, 'SendMessage', { message: say('two', { taskId: task.id }) });
      expect(second.task.status.state).toBe('TASK_STATE_COMPLETED');
      expect([most, turns]).toEqual([1, 2]);
      expect(counted(second.task)).toEqual(upTo(20));
    });

    it('shows everything once to a follower that subscribes while chunks flow', async () => {
      const followed = Promise.withResolvers<void>();
      start(async function* () {
        yield* count(60);
        await followed.promise;
        yield completed();
      }, store());
      const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
      const seen: string[] = [];
      for await (const { event } of stream(server, 'SubscribeToTask', { id: task.id })) {
        followed.resolve();
        if ('task' in event) seen.push(...(counted(event.task) ?? []).map(String));
        if ('artifactUpdate' in event)
          seen.push(...event.artifactUpdate.artifact.parts.map((p) => ('text' in p ? p.text : '')));
      }
      expect(seen.map(Number)).toEqual(upTo(60));
    });
  });

  it('stores everything though its reader left early', async () => {
    const left = Promise.withResolvers<void>();
    start(async function* () {
      yield* count(30, left.promise);
      yield completed();
    });
    let id = '';
    for await (const { event } of stream(server, 'SendStreamingMessage', { message: say('go') })) {
      if ('task' in event) id = event.task.id;
      if ('artifactUpdate' in event) break;
    }
    left.resolve();
    expect(counted(await until(server, id, 'COMPLETED'))).toEqual(upTo(30));
  });

  it('writes again what the store failed to write', async () => {
    const store = newStore();
    let failures = 0;
    const failing: TaskStore = {
      ...store,
      commit: async (commit) => {
        const kind = commit.facts[0]?.type;
        if (kind === 'artifact-updated' && failures++ % 2 === 0)
          throw new StoreError('UNAVAILABLE', 'before');
        const committed = await store.commit(commit);
        if (kind === 'artifact-updated' && failures % 3 === 0) throw new StoreError('UNAVAILABLE', 'after');
        return committed;
      },
    };
    start(async function* () {
      yield* count(6);
      yield completed();
    }, failing);
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(counted(task)).toEqual(upTo(6));
    expect(failures).toBeGreaterThan(6);
  });

  it.each([
    ['goes on after the end', [completed(), working()]],
    ['adds an artifact after the end', [completed(), artifact('late', text('late'))]],
    ['names a state that does not exist', [{ status: { state: 'TASK_STATE_99' } }, completed()]],
  ])('stores and sends nothing when an agent %s', async (_what, updates) => {
    const refused: unknown[] = [];
    start(async function* () {
      for (const update of updates as never[]) {
        try {
          yield update;
        } catch (error) {
          refused.push(error);
        }
      }
    });
    const seen = await collect(stream(server, 'SendStreamingMessage', { message: say('go') }));
    expect(seen).toEqual(['task SUBMITTED', 'COMPLETED']);
  });

  it('refuses to the agent what it may not do, and lets it go on', async () => {
    const refused: unknown[] = [];
    start(
      emitting(async (emit) => {
        await emit(working());
        await emit(append('unknown', text('x'))).catch((error) => refused.push(error));
        await emit(completed());
      }),
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(refused).toMatchObject([{ reason: 'INVALID_AGENT_RESPONSE' }]);
    // An emit that failed fails the turn, also if the agent caught the error.
    expect(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']).toContain(task.status.state);
  });

  describe('an agent that does not end as it should', () => {
    it('fails when it returns while WORKING', async () => {
      start(async function* () {
        yield working();
      });
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      expect(task.status).toMatchObject({
        state: 'TASK_STATE_FAILED',
        message: { parts: [{ text: expect.any(String) }, { data: { code: 'INVALID_AGENT_RESPONSE' } }] },
      });
    });

    it('is ended at its deadline when it never returns', async () => {
      start(
        async function* () {
          yield working();
          await new Promise(() => {});
        },
        newStore(),
        { timeouts: { taskMs: 50 } },
      );
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      expect(task.status).toMatchObject({
        state: 'TASK_STATE_FAILED',
        message: { parts: [{}, { data: { code: 'DEADLINE_EXCEEDED' } }] },
      });
    });

    it('is canceled by force when it ignores a cancel', async () => {
      start(
        async function* () {
          yield working();
          await new Promise(() => {});
        },
        newStore(),
        { timeouts: { cancelGraceMs: 30 } },
      );
      const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
      expect((await rpc(server, 'CancelTask', { id: task.id })).status.state).toBe('TASK_STATE_CANCELED');
    });

    it('sends no client the text of its error', async () => {
      start(async function* () {
        yield working();
        throw new Error('password=hunter2');
      });
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      expect(task.status.state).toBe('TASK_STATE_FAILED');
      expect(JSON.stringify(task)).not.toContain('hunter2');
    });
  });
}
