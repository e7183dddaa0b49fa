import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { scope } from '../../../../../test/kit/scope.ts';
import { serve } from '../../../../../test/kit/serve.ts';
import { until } from '../../../../../test/kit/until.ts';
import {
  type Agent,
  type AgentServer,
  artifact,
  completed,
  failed,
  inputRequired,
  reply,
  type Turn,
  textOf,
  working,
} from '../../../src/index.ts';

const start = async (server: AgentServer): Promise<string> => {
  const configuration = { returnImmediately: true };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  return task.id;
};

const answer = (server: AgentServer, taskId: string, words = 'more') =>
  rpc(server, 'SendMessage', { message: say(words, { taskId }) });

/** The last words of a task whose agent does this in its only turn. */
async function wordsOf(act: (turn: Turn) => Promise<unknown>, options: object = {}): Promise<string> {
  const server = serve(async function* (turn) {
    yield working();
    yield completed(JSON.stringify(await act(turn)) ?? 'undefined');
  }, options);
  const { status } = await until(server, await start(server), 'COMPLETED');
  return textOf(status.message);
}

describe('the memory of a task', () => {
  it('is there in later turns, in any process, and nowhere else', async () => {
    const store = memoryStore();
    const agent: Agent = async function* ({ memory, text }) {
      const count = (memory.get<number>('count') ?? 0) + 1;
      await memory.set('count', count);
      if (text === 'end') yield completed(`${count}`);
      else yield inputRequired('And?');
    };
    const first = serve(agent, { store });
    const id = await start(first);
    await until(first, id, 'INPUT_REQUIRED');
    await first.close();
    const second = serve(agent, { store });
    await answer(second, id);
    await answer(second, id, 'end');
    const { status } = await until(second, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: '3' }]);
    expect(await rpc(second, 'SendMessage', { message: say('end') })).toMatchObject({
      task: { status: { message: { parts: [{ text: '1' }] } } },
    });
  });

  it('gives copies, at once, of what was stored last', async () => {
    const words = await wordsOf(async ({ memory }) => {
      const own = { list: [1] };
      await memory.set('a', own);
      own.list.push(2);
      memory.get<{ list: number[] }>('a')?.list.push(3);
      const before = memory.get('a');
      await memory.set('a', new Date(0));
      return [before, memory.get('a'), memory.get('b') === undefined, memory.get('toString') === undefined];
    });
    expect(JSON.parse(words)).toEqual([{ list: [1] }, '1970-01-01T00:00:00.000Z', true, true]);
  });

  it('forgets a key that is deleted, or set to undefined', async () => {
    const words = await wordsOf(async ({ memory: { get, set, delete: forget } }) => {
      for (const key of ['a', 'b', '__proto__']) await set(key, key);
      const kept = get('__proto__');
      await forget('a');
      await set('b', undefined);
      await forget('never there');
      return [get('a') === undefined, get('b') === undefined, kept];
    });
    expect(JSON.parse(words)).toEqual([true, true, '__proto__']);
  });

  it.each([
    ['a bigint', 1n],
    ['a function', () => {}],
  ])('refuses %s, which JSON cannot hold, and names the key', async (_, value) => {
    const words = await wordsOf(({ memory }) => memory.set('a', value).catch((error: Error) => `${error}`));
    expect(words).toBe('"TypeError: The memory \\"a\\" is not JSON, so it cannot be kept"');
  });

  it('is bounded: an error names key and sizes, and nothing has changed', async () => {
    const words = await wordsOf(
      async ({ memory, step }) => {
        await memory.set('a', 'small');
        const one = await memory.set('b', 'x'.repeat(100)).catch((error: Error) => `${error}`);
        const keep = { keep: 'task' } as const;
        const other = await step('s', keep, () => 'x'.repeat(100)).catch((error: Error) => `${error}`);
        return [one, other, memory.get('a'), memory.get('b') === undefined];
      },
      { limits: { memoryBytes: 60 } },
    );
    expect(JSON.parse(words)).toEqual([
      'RangeError: The memory "b" has 109 bytes; all that the task keeps would have 123 of 60 (`limits.memoryBytes`)',
      'RangeError: The result of the step "s" has 109 bytes; all that the task keeps would have 123 of 60 (`limits.memoryBytes`)',
      'small',
      true,
    ]);
  });

  it('has room for 1 MiB by default', async () => {
    const words = await wordsOf(async ({ memory }) => {
      await memory.set('a', 'x'.repeat(1024 * 1024 - 20));
      return memory.set('b', 'x'.repeat(20)).catch((error: Error) => error.name);
    });
    expect(words).toBe('"RangeError"');
  });

  it('changes in the commit of an update, together with it or not at all', async () => {
    const store = memoryStore();
    const seen: unknown[] = [];
    const server = serve(
      async function* ({ memory, text }) {
        if (text === 'more')
          return yield completed(JSON.stringify([memory.get('a'), memory.get('b') ?? null]));
        yield { ...working(), memory: { a: 1, b: 2 } };
        seen.push(memory.get('a'), memory.get('b'));
        yield { ...artifact('x', 'y'), memory: { a: 3, b: undefined } };
        try {
          yield { ...working(), memory: { a: 1n } };
        } catch (error) {
          seen.push((error as Error).message);
        }
        yield { ...inputRequired('And?'), memory: { a: 4 } };
      },
      { store },
    );
    const id = await start(server);
    await until(server, id, 'INPUT_REQUIRED');
    const stored = await store.readFacts(scope, id, 0, 100);
    const commits = (type: string) =>
      stored.filter(({ fact }) => fact.type === type).map(({ commitId }) => commitId);
    expect(commits('memory-changed')).toHaveLength(3);
    expect(commits('artifact-updated')).toEqual([commits('memory-changed')[1]]);
    expect(commits('status-changed').at(-1)).toBe(commits('memory-changed')[2]);
    expect(seen).toEqual([1, 2, 'What the agent remembers is not JSON']);
    await answer(server, id);
    const { status } = await until(server, id, 'COMPLETED');
    expect(status.message?.parts).toEqual([{ text: '[4,null]' }]);
  });

  it('refuses an update that would make it too large at its `yield`, without saying to clients what it keeps', async () => {
    const causes: unknown[] = [];
    const server = serve(
      async function* ({ text }) {
        const update = { ...working(), memory: { secret: 'x'.repeat(100) } };
        if (text === 'uncaught') yield update;
        try {
          yield update;
        } catch (error) {
          causes.push((error as Error).cause);
          yield failed('Too much');
        }
      },
      { limits: { memoryBytes: 60 } },
    );
    await until(server, await start(server), 'FAILED');
    expect(causes).toEqual([expect.objectContaining({ message: expect.stringContaining('"secret"') })]);
    const { task } = await rpc(server, 'SendMessage', { message: say('uncaught') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task)).not.toContain('secret');
  });

  it('may be used by an agent that answers with a message', async () => {
    const server = serve(async ({ memory }) => {
      await memory.set('a', 1);
      return reply(`${memory.get('a')}`);
    });
    const { message } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(message.parts).toEqual([{ text: '1' }]);
  });
});
