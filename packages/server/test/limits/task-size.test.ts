import { FACT_FORMAT, type Fact, headOf } from '@batonjs/lifecycle';
import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it, vi } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { scope } from '../../../../test/kit/scope.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, artifact, completed, inputRequired } from '../../src/index.ts';

const exhausted = { reason: 'RESOURCE_EXHAUSTED' };
const text = 'x'.repeat(1_000);

/** Asks, then takes what comes until it is canceled. */
const holding: Agent = async function* ({ signal, messages }) {
  if (messages.length === 1) yield inputRequired('And?');
  else await new Promise((resolve) => signal.addEventListener('abort', resolve));
};

describe.each([
  ['facts', { factsPerTask: 20 }],
  ['bytes', { bytesPerTask: 15_000 }],
])('a task with as many %s as it may have', (_what, limits) => {
  async function begin(store = memoryStore()) {
    const server = serve(holding, { store, limits, messages: { idempotency: true } });
    const { task } = await rpc(server, 'SendMessage', { message: say(text) });
    const follow = (message = say(text, { taskId: task.id })) =>
      rpc(server, 'SendMessage', { message, configuration: { returnImmediately: true } });
    const length = async () => (await store.load(scope, task.id))!.version;
    return { server, id: task.id as string, follow, length };
  }

  it('refuses a message, stores nothing of it, and can still be read and canceled', async () => {
    const { server, id, follow, length } = await begin();
    const first = say(text, { taskId: id });
    await follow(first);
    let sent = 2;
    let refused = say(text, { taskId: id });
    for (; sent < 50; sent++) {
      const error = await follow(refused).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (error) {
        expect(error).toMatchObject(exhausted);
        break;
      }
      refused = say(text, { taskId: id });
    }
    expect(sent).toBeGreaterThan(8);
    expect(sent).toBeLessThanOrEqual(20);
    const before = await length();
    await expect(follow(refused)).rejects.toMatchObject(exhausted);
    expect(await length()).toBe(before);
    // One that is in the log is no new one.
    expect((await follow(first)).task.id).toBe(id);
    const { history } = await rpc(server, 'GetTask', { id });
    expect(history.filter(({ role }: { role: string }) => role === 'ROLE_USER')).toHaveLength(sent);
    const { status } = await rpc(server, 'CancelTask', { id });
    expect(status.state).toBe('TASK_STATE_CANCELED');
  });

  it('has no more of them when messages come at the same time', async () => {
    const { server, id, follow } = await begin();
    const sends = await Promise.allSettled(Array.from({ length: 60 }, () => follow()));
    const accepted = sends.filter(({ status }) => status === 'fulfilled').length;
    for (const send of sends) if (send.status === 'rejected') expect(send.reason).toMatchObject(exhausted);
    expect(accepted).toBeGreaterThan(5);
    expect(accepted).toBeLessThan(20);
    const { history } = await rpc(server, 'GetTask', { id });
    expect(history.filter(({ role }: { role: string }) => role === 'ROLE_USER')).toHaveLength(accepted + 1);
  });
});

describe('what enters the log of a task is counted:', () => {
  it('a first message that is too large makes no task', async () => {
    const store = memoryStore();
    const server = serve(holding, { store, limits: { bytesPerTask: 900 } });
    await expect(rpc(server, 'SendMessage', { message: say(text) })).rejects.toMatchObject(exhausted);
    expect(await store.list(scope, { limit: 9, answered: true })).toEqual({ tasks: [], total: 0 });
  });

  it.each<[string, (big: string) => Agent]>([
    [
      'an artifact',
      (big) =>
        async function* () {
          yield artifact({ artifactId: 'big' }, big);
        },
    ],
    [
      'a status',
      (big) =>
        async function* () {
          yield completed(big);
        },
    ],
    [
      'a step',
      (big) =>
        async function* ({ step }) {
          await step('big', () => big);
          yield completed();
        },
    ],
    ['an answer', (big) => ({ messageId: 'a', role: 'ROLE_AGENT', parts: [{ text: big }] }) as never],
  ])('%s of an agent, before it is written, and the task fails with a reason', async (what, make) => {
    const store = memoryStore();
    const big = 'x'.repeat(200_000);
    const agent: Agent = what === 'an answer' ? async () => make(big) as never : make(big);
    const server = serve(agent, { store, limits: { bytesPerTask: 100_000 } });
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(JSON.stringify(task.status.message)).toContain('RESOURCE_EXHAUSTED');
    expect(JSON.stringify(await store.load(scope, task.id)).length).toBeLessThan(10_000);
  });
});

describe('a claimed task that cannot be opened', () => {
  /** A task that wants a turn, with a fact of a release to come. */
  async function unreadable(store: TaskStore): Promise<void> {
    const written = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;
    const facts: Fact[] = [
      { ...written, type: 'message-received', message: { ...say('go'), contextId: 'c' } },
      { ...written, type: 'task-created', taskId: 't', contextId: 'c' },
      { ...written, type: 'turn-ended', turn: 1, format: FACT_FORMAT + 1 } as never,
    ];
    const head = facts.reduce<ReturnType<typeof headOf> | undefined>(headOf, undefined)!;
    const turn = { queue: 'agent', want: true };
    await store.commit({ scope, taskId: 't', commitId: 'c', expectedVersion: 0, facts, head, turn });
  }

  it('is tried again less and less often, each time reported; others may try once the server closes', async () => {
    let time = Date.parse('2026-01-02');
    let claims = 0;
    const memory = memoryStore({ now: () => time, monotonic: () => time });
    const store: TaskStore = {
      ...memory,
      async claim(request) {
        const leases = await memory.claim(request);
        claims++;
        return leases;
      },
    };
    await unreadable(store);
    const tries: object[] = [];
    const logger = (level: string, message: string, details: object = {}) => {
      if (message !== 'A claimed task cannot be opened') return;
      expect(level).toBe('error');
      expect(details).toMatchObject({ taskId: 't', err: { code: 'UNKNOWN_FACT' } });
      tries.push(details);
    };
    const tried = (times: number) => vi.waitFor(() => expect(tries).toHaveLength(times), 10_000);
    const lookedTwice = async () => {
      const before = claims;
      await vi.waitFor(() => expect(claims).toBeGreaterThanOrEqual(before + 2), 10_000);
    };
    const server = serve(holding, { store, timeouts: { leaseMs: 20 }, logger });
    for (const [n, retryMs] of [20, 40, 80, 160].entries()) {
      await tried(n + 1);
      expect(tries.at(-1)).toMatchObject({ failures: n + 1, retryMs });
      time += retryMs - 1;
      await lookedTwice();
      expect(tries).toHaveLength(n + 1);
      if (n < 3) time += 1;
    }
    time -= 100;
    await server.close({ graceMs: 0 });
    time += 1;
    serve(holding, { store, timeouts: { leaseMs: 20 }, logger });
    await tried(5);
    expect(tries.at(-1)).toMatchObject({ failures: 1, retryMs: 20 });
  });
});
