import type { ChildUpdate } from '@batonjs/lifecycle';
import { TASK_TREE } from '@batonjs/protocol/headers';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { testClock } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { until } from '../../../../test/kit/until.ts';
import { type Agent, inputRequired, type Turn, working } from '../../src/index.ts';

const TREE = { 'a2a-extensions': TASK_TREE };
const card = {
  name: 'Test',
  description: 'For tests',
  capabilities: { extensions: [{ uri: TASK_TREE }] },
};

/** Starts a child, then waits for an answer, or forever. */
const parent: Agent = async function* ({ text }) {
  yield { child: { name: 'c', agent: 'Other', taskId: 't', state: 'TASK_STATE_WORKING' } };
  if (text === 'ask') return yield inputRequired('Which?');
  yield working();
  await new Promise(() => {});
};

/** A hook that records its calls, and gives the child another state. */
function hook() {
  const called: string[] = [];
  const onCancel = async ({ taskId, children }: { taskId: string; children: object }) => {
    called.push(`${taskId} ${Object.keys(children)}`);
    return [{ name: 'c', agent: 'Other', taskId: 't', state: 'TASK_STATE_CANCELED' as const }];
  };
  return { called, onCancel };
}

const start = async (server: ReturnType<typeof serve>, text: string): Promise<string> => {
  const configuration = { returnImmediately: true };
  return (await rpc(server, 'SendMessage', { message: say(text), configuration })).task.id;
};

const childrenOf = async (server: ReturnType<typeof serve>, id: string) =>
  (await rpc(server, 'GetTask', { id }, TREE)).metadata[TASK_TREE].children;

const canceledChild = [{ name: 'c', agent: 'Other', taskId: 't', state: 'TASK_STATE_CANCELED' }];

describe('`onCancel` is called before a task ends without its agent, and the children that it returns are recorded,', () => {
  it('when a client cancels a task that waits', async () => {
    const { called, onCancel } = hook();
    const server = serve(parent, { card, onCancel });
    const id = await start(server, 'ask');
    await until(server, id, 'INPUT_REQUIRED');
    await rpc(server, 'CancelTask', { id });
    expect(called).toEqual([`${id} c`]);
    expect(await childrenOf(server, id)).toEqual(canceledChild);
  });

  it('when the time of a task that waits is over', async () => {
    const { called, onCancel } = hook();
    const clock = testClock();
    const store = memoryStore({ now: clock.now });
    const server = serve(parent, { card, onCancel, clock, store, timeouts: { interruptedMs: 60_000 } });
    const id = await start(server, 'ask');
    // The process asks its store about once a second.
    await clock.advance(61_250);
    const { status } = await rpc(server, 'GetTask', { id });
    expect(status.message?.parts).toMatchObject([{}, { data: { code: 'DEADLINE_EXCEEDED' } }]);
    expect(called).toEqual([`${id} c`]);
    expect(await childrenOf(server, id)).toEqual(canceledChild);
  });

  it('when the time of a task is over whose turn runs', async () => {
    const { called, onCancel } = hook();
    const clock = testClock();
    const server = serve(parent, { card, onCancel, clock, timeouts: { taskMs: 60_000 } });
    const id = await start(server, 'work');
    await clock.advance(60_000);
    expect((await rpc(server, 'GetTask', { id })).status.state).toBe('TASK_STATE_FAILED');
    expect(called).toEqual([`${id} c`]);
    expect(await childrenOf(server, id)).toEqual(canceledChild);
  });

  it('when its process died, and the turn is not run again', async () => {
    const { called, onCancel } = hook();
    const store = memoryStore();
    let isDead = false;
    const mortal: TaskStore = new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => (isDead ? new Promise(() => {}) : member.apply(target, args));
      },
    });
    const options = { card, timeouts: { leaseMs: 300, storeMs: 300 } };
    const first = serve(parent, { ...options, store: mortal });
    const id = await start(first, 'work');
    await until(first, id, 'WORKING');
    isDead = true;
    const second = serve(parent, { ...options, store, onCancel });
    const { status } = await until(second, id, 'FAILED');
    expect(status.message?.parts).toMatchObject([{}, { data: { code: 'PROCESS_LOST' } }]);
    expect(called).toEqual([`${id} c`]);
    expect(await childrenOf(second, id)).toEqual(canceledChild);
  });
});

it('the turn that a hook gets has every member of a turn, also where none runs', async () => {
  const seen: Record<string, unknown>[] = [];
  const failed: unknown[] = [];
  const onCancel = async (turn: Turn) => {
    try {
      const names = Object.keys(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(turn)));
      seen.push(Object.fromEntries(names.map((name) => [name, turn[name as keyof Turn]])));
    } catch (error) {
      failed.push(error);
    }
    return [];
  };
  const server = serve(parent, { card, onCancel: onCancel as never });
  const id = await start(server, 'ask');
  await until(server, id, 'INPUT_REQUIRED');
  await rpc(server, 'CancelTask', { id });
  expect(failed).toEqual([]);
  expect(seen).toMatchObject([{ text: 'ask', replacedWake: undefined, woken: false }]);
});

it('a hook that returns something else, or fails, ends the task all the same', async () => {
  for (const onCancel of [() => 7 as never, () => Promise.reject(new Error('broken'))]) {
    const server = serve(parent, { card, onCancel });
    const id = await start(server, 'ask');
    await until(server, id, 'INPUT_REQUIRED');
    await rpc(server, 'CancelTask', { id });
    await until(server, id, 'CANCELED');
  }
});

describe('a log that is full ends with', () => {
  const full = { card, limits: { factsPerTask: 6 } };
  const cancel = async (onCancel: () => Promise<readonly ChildUpdate[]>) => {
    const lines: unknown[][] = [];
    const server = serve(parent, { ...full, onCancel, logger: (...line) => lines.push(line) });
    const id = await start(server, 'ask');
    await until(server, id, 'INPUT_REQUIRED');
    await rpc(server, 'CancelTask', { id });
    await until(server, id, 'CANCELED');
    return { lines, children: await childrenOf(server, id) };
  };
  const ended = { name: 'c', agent: 'Other', taskId: 't', state: 'TASK_STATE_CANCELED' as const };

  it('the children that the hook returns', async () => {
    expect(await cancel(async () => [ended])).toEqual({ lines: [], children: canceledChild });
  });

  it.each([
    ['need too much room', { ...ended, record: 'x'.repeat(65 * 1024) }],
    ['cannot be stored', { ...ended, record: 1n }],
    ['are none', null as never],
  ])('its children as they were, if those that the hook returns %s', async (_, child) => {
    const { lines, children } = await cancel(async () => [child]);
    expect(children).toEqual([{ ...canceledChild[0], state: 'TASK_STATE_WORKING' }]);
    expect(lines).toMatchObject([['error', 'The children of a task could not be recorded', {}]]);
  });
});
