import type { Commit, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, completed, reply } from '../../src/index.ts';

const now = { returnImmediately: true };

/** A store in which the log of a task ends just before the client's task would be made of it. */
function endingFirst(letGo: () => void): TaskStore {
  const memory = memoryStore();
  const isMadeForClient = ({ facts }: Commit) => facts.length === 1 && facts[0]?.type === 'task-created';
  return change(memory, {
    commit: (commit) => async (one) => {
      if (!isMadeForClient(one)) return commit(one);
      letGo();
      await vi.waitFor(async () => expect((await memory.load(scope, one.taskId))?.head.closed).toBe(true));
      return commit(one);
    },
  });
}

describe('when the agent ends at the moment at which the client gets a task', () => {
  it('the client gets the answer', async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(
      async () => {
        await gate.promise;
        return reply('Just in time');
      },
      { store: endingFirst(gate.resolve) },
    );
    const { message } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    expect(message.parts).toEqual([{ text: 'Just in time' }]);
  });

  it('the client gets the task that has ended', async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve(
      async () => {
        await gate.promise;
        return (async function* () {
          yield completed();
        })();
      },
      { store: endingFirst(gate.resolve) },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration: now });
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('what clients do not get', () => {
  it('is logged once', async () => {
    const lines: unknown[][] = [];
    const store = change(memoryStore(), {
      list: () => () => Promise.reject(new Error('secret')),
    });
    const server = serve(() => reply('Hi'), { store, logger: (...line) => lines.push(line) });
    await expect(rpc(server, 'ListTasks', {})).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    expect(lines).toMatchObject([
      ['error', 'A request failed', { operation: 'ListTasks', err: { message: 'secret' } }],
    ]);
  });
});

describe('tasks that began in the same millisecond', () => {
  it('are always seen in the same order by readers of their context', async () => {
    const at = Date.parse('2026-01-01T00:00:00.000Z');
    const seen: string[][] = [];
    const agent: Agent = async function* ({ context }) {
      seen.push((await context.tasks()).map(({ id }) => id));
      yield completed();
    };
    const server = serve(agent, { clock: { now: () => at } });
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) {
      const { task } = await rpc(server, 'SendMessage', { message: say('go', { contextId: 'same' }) });
      ids.push(task.id);
    }
    expect(seen.map((others) => others.length)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const [n, others] of seen.entries()) expect(others).toEqual(ids.slice(0, n).sort());
  });
});
