import type { Task } from '@batonjs/protocol';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { slowStore } from '../../../../test/kit/slow-store.ts';
import { append, artifact, completed, emitting, text } from '../../src/index.ts';

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
