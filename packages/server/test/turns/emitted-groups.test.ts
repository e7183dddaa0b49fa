import type { TaskUpdate } from '@batonjs/lifecycle';
import type { Task } from '@batonjs/protocol';
import { StoreError, type TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { change } from '../../../../test/kit/faulty-store.ts';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { slowStore } from '../../../../test/kit/slow-store.ts';
import { eventually, until } from '../../../../test/kit/until.ts';
import { systemClock } from '../../src/base/timing/clock.ts';
import {
  type Agent,
  append,
  artifact,
  authRequired,
  completed,
  emitting,
  failed,
  inputRequired,
  text,
  working,
} from '../../src/index.ts';

/** A store that notes how many facts each commit had, and how many are stored. */
function counting() {
  const commits: number[] = [];
  const inner = slowStore(memoryStore(), 1);
  let stored = 0;
  const store: TaskStore = {
    ...inner,
    commit: async (commit) => {
      const committed = await inner.commit(commit);
      commits.push(commit.facts.length);
      stored = committed.version;
      return committed;
    },
  };
  return { store, commits, stored: () => stored };
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);
const chunk = (n: number) => (n === 0 ? artifact('count', text('0')) : append('count', text(String(n))));
const numbers = (task: Task) =>
  task.artifacts?.[0]?.parts.map((part) => ('text' in part ? Number(part.text) : -1));

describe('Artifacts that are emitted without awaiting each', () => {
  it('share commits, and each emit resolves only once its own is stored, in order', async () => {
    const { store, commits, stored } = counting();
    const resolved: { n: number; stored: number }[] = [];
    const server = serve(
      emitting(async (emit) => {
        const emitted = upTo(300).map(async (n) => {
          await emit(chunk(n));
          resolved.push({ n, stored: stored() });
        });
        await Promise.all(emitted);
        await emit(completed());
      }),
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(numbers(task)).toEqual(upTo(300));
    expect(resolved.map(({ n }) => n)).toEqual(upTo(300));
    // The first three facts are the message, the task and its turn.
    expect(resolved.filter((one) => one.stored < one.n + 4)).toEqual([]);
    expect(commits.length).toBeLessThan(10);
    expect(Math.max(...commits)).toBeLessThanOrEqual(128);
  });

  it('are stored up to the one that is refused and after it, and only that one rejects', async () => {
    const { store } = counting();
    const refused: number[] = [];
    const server = serve(
      emitting(async (emit) => {
        const emitted = upTo(20).map((n) =>
          emit(n === 7 ? append('unknown', text('x')) : chunk(n)).catch(() => refused.push(n)),
        );
        await Promise.all(emitted);
      }),
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(numbers(task)).toEqual(upTo(20).filter((n) => n !== 7));
    expect(refused).toEqual([7]);
    expect(task.status.state).toBe('TASK_STATE_FAILED');
  });

  it('are committed in parts where they are large', async () => {
    const { store, commits } = counting();
    const large = 'x'.repeat(20_000);
    const server = serve(
      emitting(async (emit) => {
        void emit(artifact('large', text(large)));
        for (let n = 0; n < 20; n++) void emit(append('large', text(large)));
        await emit(completed());
      }),
      { store },
    );
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.artifacts[0].parts).toHaveLength(21);
    expect(Math.max(...commits)).toBe(4);
  });
});

describe('The last emit of a turn', () => {
  it.each([
    ['completes the task', completed('Done')],
    ['fails the task', failed({ code: 'BROKEN', message: 'It is broken' })],
    ['asks', inputRequired('Well?')],
  ])('resolves once it is stored, where it %s', async (_, update) => {
    const { store, stored } = counting();
    const resolved = Promise.withResolvers<number>();
    const agent = emitting((emit) => emit(update).then(() => resolved.resolve(stored()), resolved.reject));
    await rpc(serve(agent, { store }), 'SendMessage', { message: say('go') });
    expect(await resolved.promise).toBe(5);
  });

  it.each([
    ['completes the task', completed()],
    ['asks', inputRequired('Well?')],
  ])('resolves too where another generator hands its updates on, and it %s', async (_, update) => {
    const { store, stored } = counting();
    const resolved = Promise.withResolvers<number>();
    const inner = emitting((emit) => emit(update).then(() => resolved.resolve(stored()), resolved.reject));
    const agent: Agent = async function* (turn) {
      yield* (await inner(turn)) as AsyncIterable<TaskUpdate>;
    };
    await rpc(serve(agent, { store }), 'SendMessage', { message: say('go') });
    expect(await resolved.promise).toBe(5);
  });

  it('may be one after which the agent goes on to nothing', async () => {
    const server = serve(emitting((emit) => emit(authRequired('Sign in'))));
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
    await eventually(() => expect(server.load.turns).toBe(0));
    expect((await rpc(server, 'GetTask', { id: task.id })).status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('resolves in a test of one turn', async () => {
    const resolved = Promise.withResolvers<void>();
    await runTurn(
      emitting((emit) => emit(completed()).then(resolved.resolve, resolved.reject)),
      'go',
    );
    await resolved.promise;
  });

  it('resolves for the artifacts that share the commit in which the server gives up the agent', async () => {
    const gate = Promise.withResolvers<void>();
    const committing = Promise.withResolvers<void>();
    const store = change(memoryStore(), {
      commit: (commit) => async (one) => {
        if (one.facts.some(({ type }) => type === 'artifact-updated')) {
          committing.resolve();
          await gate.promise;
        }
        return commit(one);
      },
    });
    const outcome = Promise.withResolvers<unknown>();
    const agent = emitting(async (emit) => {
      const emitted = upTo(3).map((n) => emit(chunk(n)));
      Promise.all(emitted).then(outcome.resolve, outcome.reject);
      await new Promise(() => {});
    });
    const cancelGraceMs = 5_000;
    const sleep: typeof systemClock.sleep = async (ms, signal) => {
      if (ms !== cancelGraceMs) return systemClock.sleep(ms, signal);
      setImmediate(gate.resolve);
    };
    const server = serve(agent, { store, timeouts: { cancelGraceMs }, clock: { sleep } });
    const { task } = await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    await committing.promise;
    await rpc(server, 'CancelTask', { id: task.id });
    expect(await outcome.promise).toHaveLength(3);
  });

  it('rejects if the task was given to another process meanwhile', async () => {
    const store = change(memoryStore(), {
      commit: (commit) => async (one) => {
        if (one.facts.some(({ type }) => type === 'artifact-updated'))
          throw new StoreError('FENCED', 'Taken');
        return commit(one);
      },
    });
    const outcome = Promise.withResolvers<unknown>();
    const agent = emitting((emit) => emit(chunk(0)).then(outcome.resolve, outcome.reject));
    void rpc(serve(agent, { store }), 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    await expect(outcome.promise).rejects.toThrow('The turn is over');
  });

  it('rejects if the server had given up the agent before', async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    const agent = emitting(async (emit) => {
      await emit(working());
      begun.resolve();
      await gate.promise;
      await emit(completed()).then(outcome.resolve, outcome.reject);
    });
    const server = serve(agent, { timeouts: { cancelGraceMs: 1 } });
    const { task } = await rpc(server, 'SendMessage', {
      message: say('go'),
      configuration: { returnImmediately: true },
    });
    await begun.promise;
    await rpc(server, 'CancelTask', { id: task.id });
    await until(server, task.id, 'CANCELED');
    gate.resolve();
    await expect(outcome.promise).rejects.toThrow('The turn is over');
  });
});
