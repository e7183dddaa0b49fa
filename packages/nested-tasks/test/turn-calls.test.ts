import { A2AError, type AgentClient } from '@batonjs/client';
import { TASK_TREE } from '@batonjs/extensions/client';
import type { Child } from '@batonjs/lifecycle';
import type { Turn } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { Agents } from '../src/agents/agents.ts';
import type { CallSettings } from '../src/call.ts';
import { TurnCalls } from '../src/turn/turn-calls.ts';

const done = { id: 'there', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED', timestamp: 'now' } };

interface Playing {
  readonly children?: Readonly<Record<string, object>>;
  /** As the caller says. */
  readonly depth?: unknown;
  readonly limits?: Partial<CallSettings['limits']>;
  readonly signal?: AbortSignal;
  /** Whether the agent never answers a message. */
  readonly isSilent?: boolean;
}

/** The calls of a turn, at an agent that completes each task; what they write is written at once. */
function playing({
  children = {},
  depth,
  limits,
  signal = new AbortController().signal,
  isSilent = false,
}: Playing = {}) {
  const sent: { signal: AbortSignal }[] = [];
  const canceled: string[] = [];
  const known: Record<string, object> = { ...children };
  const streamOf = (events: object[], isOpen: boolean, options: { signal: AbortSignal }) => {
    sent.push(options);
    const { signal: given } = options;
    const never = () =>
      new Promise((_, reject) => {
        given.addEventListener('abort', () => reject(given.reason));
      });
    const stream = {
      task: done,
      next: () =>
        isOpen ? never() : Promise.resolve(events.length > 0 ? { value: events.shift() } : { done: true }),
      return: async () => ({}),
      result: async () => ({ task: done }),
      [Symbol.asyncIterator]: () => stream,
    };
    return stream;
  };
  const client = {
    card: { name: 'Child' },
    interface: { url: 'https://child.example' },
    stream: (_: unknown, options: { signal: AbortSignal }) => streamOf([{ task: done }], isSilent, options),
    follow: (_: unknown, options: { signal: AbortSignal }) => streamOf([], true, options),
    async cancelTask({ id }: { id: string }) {
      canceled.push(id);
      return { ...done, status: { state: 'TASK_STATE_CANCELED' } };
    },
    getTask: () => Promise.reject(new A2AError('TASK_NOT_FOUND')),
  } as unknown as AgentClient;
  const turn = {
    taskId: 't',
    attempt: 1,
    children: known,
    extensions: [],
    messages: [{ messageId: 'm', role: 'ROLE_USER', parts: [], metadata: { [TASK_TREE]: { depth } } }],
    signal,
  } as unknown as Turn;
  const agents = new Agents({ agents: { child: client }, connect: () => expect.unreachable() });
  const calls = new TurnCalls(turn, {
    agents,
    limits: { depth: 8, calls: 100, unreachableMs: 0, ...limits },
    cancelMs: 60_000,
    logger: () => {},
  });
  calls.updates.onPush(() => {
    const waiting = calls.updates.shift();
    const { child } = (waiting?.update ?? {}) as { child?: Child & { name: string } };
    if (child) {
      const { name, ...rest } = child;
      known[name] = rest;
    }
    waiting?.resolve();
  });
  const call = (name: unknown, more: object = {}) =>
    calls.call('child', 'Hi', { name: name as string, ...more });
  return { calls, call, sent, canceled };
}

const record = { at: 'child', startedAt: 0 };
const running = { agent: 'Child', taskId: 'there', state: 'TASK_STATE_WORKING', record };

describe('a call', () => {
  it.each([
    [undefined, 8, true],
    [7, 8, true],
    [8, 8, false],
    [9, 8, false],
    [0, 0, false],
    // What a caller makes up counts as none.
    [-1, 0, false],
    [1.5, 1, true],
    ['3', 1, true],
    [1e99, 8, true],
  ])('%s tasks below the first one may be made where %i may nest: %s', async (depth, most, isMade) => {
    const { call } = playing({ ...(depth !== undefined && { depth }), limits: { depth: most } });
    if (isMade) return expect(await call('a')).toEqual({ task: done });
    await expect(call('a')).rejects.toMatchObject({
      code: 'TOO_DEEP',
      call: 'a',
      message: `The call "a" failed: tasks nest at most ${most} deep`,
    });
  });

  it('is not made when the turn is over', async () => {
    const reason = new Error('Over');
    const { call, sent } = playing({ signal: AbortSignal.abort(reason) });
    await expect(call('a')).rejects.toBe(reason);
    expect(sent).toEqual([]);
  });

  it('has its time from its first attempt on', async () => {
    const { call, canceled } = playing({ children: { a: running } });
    await expect(call('a', { timeoutMs: 1_000 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'The call "a" failed: its task took longer than 1000 ms',
    });
    expect(canceled).toEqual(['there']);
    const fresh = playing({ isSilent: true });
    await expect(fresh.call('a', { timeoutMs: 5 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(await playing().call('a', { timeoutMs: 60_000 })).toEqual({ task: done });
  });
});

describe('the end of a task', () => {
  it.each([
    ['CANCELED', ['there']],
    ['SHUTDOWN', []],
  ])('by %s cancels its children or leaves them', async (code, expected) => {
    const turn = new AbortController();
    const { calls, call, sent, canceled } = playing({
      children: { old: running },
      isSilent: true,
      signal: turn.signal,
    });
    const reason = Object.assign(new Error(code), { code });
    const called = call('a').catch((error: unknown) => error);
    while (sent.length === 0) await new Promise((resolve) => setImmediate(resolve));
    turn.abort(reason);
    expect(await called).toBe(reason);
    for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(canceled).toEqual(expected);
    if (code === 'CANCELED') expect(await calls.cancelRest()).toMatchObject([{ name: 'old' }]);
  });
});
