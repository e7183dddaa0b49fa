import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { change, unavailable } from '../../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { type Agent, completed, inputRequired } from '../../../src/index.ts';

/** A server on a store whose writes can be made to fail, each after so many milliseconds of a clock that the test moves. */
function serveFailing() {
  const state = { takesMs: 0, isDown: false, attempts: 0, passedMs: 0 };
  const store: TaskStore = change(memoryStore(), {
    commit: (commit) => async (request) => {
      if (!state.isDown) return commit(request);
      state.attempts++;
      state.passedMs += state.takesMs;
      throw unavailable();
    },
  });
  const agent: Agent = async function* ({ messages }) {
    yield messages.length === 1 ? inputRequired('Well?') : completed();
  };
  const server = serve(agent, { store, clock: { monotonic: () => state.passedMs } });
  return { server, state };
}

const sends = [
  [
    'first message',
    async (server: Parameters<typeof rpc>[0] & { ready(): Promise<boolean> }) => {
      // The store remembers the agent.
      await server.ready();
      return say('go');
    },
  ],
  [
    'follow-up',
    async (server: Parameters<typeof rpc>[0]) => {
      const { task } = await rpc(server, 'SendMessage', { message: say('go') });
      return say('on', { taskId: task.id });
    },
  ],
] as const;

it.each(sends)('a %s is not tried again after a store that used up its own 4 seconds', async (_, prepare) => {
  const { server, state } = serveFailing();
  const message = await prepare(server);
  Object.assign(state, { takesMs: 4_000, isDown: true });
  await expect(rpc(server, 'SendMessage', { message })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect([state.attempts, state.passedMs]).toEqual([1, 4_000]);
});

it.each(sends)('all attempts of a %s share one deadline', async (_, prepare) => {
  const { server, state } = serveFailing();
  const message = await prepare(server);
  Object.assign(state, { takesMs: 900, isDown: true });
  await expect(rpc(server, 'SendMessage', { message })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  expect(state.attempts).toBe(5);
});
