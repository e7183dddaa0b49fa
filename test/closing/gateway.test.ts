import { createServer } from 'node:http';
import { join } from 'node:path';
import { httpJsonServer } from '@batonjs/bindings/http-json';
import { jsonRpcServer } from '@batonjs/bindings/json-rpc';
import type { Fact } from '@batonjs/lifecycle';
import { nestedTasks } from '@batonjs/nested-tasks';
import type { Task } from '@batonjs/protocol';
import {
  type Agent,
  type AgentServer,
  authRequired,
  completed,
  inputRequired,
  working,
} from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import type { Commit, TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { sqliteStore } from '@batonjs/store-sqlite';
import { createTaskGateway } from '@batonjs/task-gateway';
import { connectTasks, type TaskUpdate } from '@batonjs/task-gateway/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { change, unavailable } from '../kit/faulty-store.ts';
import { listen } from '../kit/listen.ts';
import { rpc } from '../kit/rpc.ts';
import { serveWith } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually } from '../kit/until.ts';
import { untilAborted } from '../kit/until-aborted.ts';

// The lease is longer than any test: only a task that was handed over goes on elsewhere.
const leaseMs = 600_000;
const card = { name: 'Held', description: 'Waits for the test', defaultInputModes: ['text/plain'] };
const serve = serveWith({
  card,
  timeouts: { leaseMs, cancelGraceMs: 100 },
  restart: 'rerun',
  messages: { idempotency: true },
});

/** An agent that says a word, waits for the test, and says another. `deaf` does not hear its signal. */
function held() {
  const released = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const runs: string[] = [];
  const agent: Agent = async function* ({ text, signal }) {
    runs.push(text);
    if (text === 'ask') return yield inputRequired('Well?');
    if (text === 'sign in') return yield authRequired('Who are you?');
    yield working('one');
    void untilAborted(signal).then(aborted.resolve);
    await (text === 'deaf' ? released.promise : Promise.race([released.promise, untilAborted(signal)]));
    yield working('two');
    yield completed('done');
  };
  return { agent, runs, aborted: aborted.promise, release: released.resolve };
}

const stores: readonly (readonly [kind: string, open: () => [TaskStore, TaskStore]])[] = [
  [
    'memory',
    () => {
      const store = memoryStore();
      return [change(store, { close: () => async () => {} }), store];
    },
  ],
  [
    'SQLite',
    () => {
      const file = join(temporaryFolder(), 'tasks.db');
      return [sqliteStore(file), closedAfterTest(sqliteStore(file))];
    },
  ],
];

/** A store that notes what it is asked after it was closed, and does not answer that. */
function closable(store: TaskStore) {
  const asked: string[] = [];
  const askedLate: string[] = [];
  const facts: Fact[] = [];
  let isClosed = false;
  const proxy = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        if (isClosed) {
          askedLate.push(String(name));
          throw unavailable();
        }
        asked.push(String(name));
        isClosed = name === 'close';
        if (name === 'commit') facts.push(...(args[0] as Commit).facts);
        return member.apply(target, args);
      };
    },
  });
  return { store: proxy, asked, askedLate, facts };
}

const statusOf = (fact: Fact) => (fact.type === 'status-changed' ? fact.status.state : undefined);
const idOfAnswer = (fact: Fact) =>
  fact.type === 'message-received' && fact.message.messageId.startsWith('input:')
    ? [fact.message.messageId]
    : [];

describe.each(stores)('a gateway that is closed, with tasks in %s, in the middle of', (_, open) => {
  /** A gateway in front of an agent, and what replaces it at the same URL. */
  async function replaceable(behind: AgentServer) {
    const [first, second] = open();
    const { store, asked, askedLate, facts } = closable(first);
    const next = closable(second);
    const lines: unknown[][] = [];
    const answer = nodeHandler(behind);
    let calls = 0;
    let reachable = Promise.resolve();
    let takesSends = Promise.resolve();
    const url = await listen(async (request, response) => {
      calls++;
      await reachable;
      if (request.url?.endsWith(':send')) await takesSends;
      answer(request, response);
    });
    const start = (where: TaskStore) => {
      const gateway = closedAfterTest(
        createTaskGateway({
          types: { held: url },
          store: where,
          leaseMs,
          logger: (level, message, about) => {
            const isHandedOver = message === 'A turn is run again';
            if ((level === 'error' || level === 'warn') && !isHandedOver) lines.push([level, message, about]);
          },
        }),
      );
      const listener = createServer(nodeHandler(gateway));
      gateway.attach(listener);
      return { gateway, listener };
    };
    let current = start(store);
    const front = createServer((...request) => void current.listener.emit('request', ...request));
    front.on('upgrade', (...upgrade) => void current.listener.emit('upgrade', ...upgrade));
    const frontUrl = await listen(front);
    const tasks = connectTasks(frontUrl);
    onTestFinished(() => tasks.close());
    /** Replaces the gateway. The agent answers only after `until`. */
    const replace = async (until = Promise.resolve()) => {
      await current.gateway.close({ graceMs: 0 });
      await store.close();
      const before = calls;
      reachable = until;
      current = start(next.store);
      return { isAtAgent: () => eventually(() => expect(calls).toBeGreaterThan(before)) };
    };
    /** The agent gets messages of tasks that exist only after `until`. */
    const holdSends = (until: Promise<void>) => {
      takesSends = until;
    };
    const written = () => [facts, next.facts] as const;
    return { url: frontUrl, tasks, replace, holdSends, written, lines, asked, askedLate, behind };
  }
  type Gateway = Awaited<ReturnType<typeof replaceable>>;

  /** Watches a task to its end, and calls `at` with each of its updates. */
  async function watched({ tasks }: Gateway, at: (update: TaskUpdate) => void = () => {}) {
    const updates: TaskUpdate[] = [];
    for await (const update of tasks.watch('t', { after: 0 })) {
      updates.push(update);
      at(update);
    }
    const sequences = updates.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
    return updates.map(({ status }) => status);
  }

  const submit = ({ tasks }: Gateway, text: string) =>
    tasks.submit({ taskId: 't', type: 'held', data: { text } });

  const became = (gateway: Gateway, expected: object) =>
    eventually(async () => expect(await gateway.tasks.get('t')).toMatchObject(expected));

  /** The agent has this one task, and what was closed says and asks nothing more. */
  async function isOver({ behind, lines, askedLate }: Gateway, state: string) {
    const { tasks } = await rpc(behind, 'ListTasks', {});
    expect(tasks.map(({ status }: Task) => status.state)).toEqual([`TASK_STATE_${state}`]);
    expect({ lines, askedLate }).toEqual({ lines: [], askedLate: [] });
  }

  it('a stream of the agent: a follower has each update once, and the agent runs once', async () => {
    const { agent, runs, release } = held();
    const gateway = await replaceable(serve(agent));
    await submit(gateway, 'go');
    const follower = watched(gateway);
    await became(gateway, { status: 'in_progress' });
    const { isAtAgent } = await gateway.replace();
    await isAtAgent();
    release();
    // What the agent said while no gateway followed it is part of its task, and no update of its own.
    const statuses = (await follower).filter((status, n, all) => status !== all[n - 1]);
    expect(statuses).toEqual(['created', 'in_progress', 'completed']);
    expect(runs).toEqual(['go']);
    await isOver(gateway, 'COMPLETED');
  });

  it.each([
    ['a question', 'ask'],
    ['an authorization that is missing', 'sign in'],
  ])('%s: the next one shows it all the time and takes its answer once', async (_what, text) => {
    const { agent, runs, release } = held();
    const gateway = await replaceable(serve(agent));
    await submit(gateway, text);
    const follower = watched(gateway);
    await became(gateway, { form: { formId: expect.any(String) } });
    const { form, sequence } = await gateway.tasks.get('t');
    const answering = Promise.withResolvers<void>();
    const { isAtAgent } = await gateway.replace(answering.promise);
    release();
    // The turn has begun again, and the agent has not said yet that it still asks.
    await isAtAgent();
    const shown = await gateway.tasks.get('t');
    expect(shown.form).toEqual(form);
    expect(shown.sequence).toBeGreaterThan(sequence);
    await gateway.tasks.answer('t', { text: 'go' }, form!.formId);
    answering.resolve();
    expect((await follower).at(-1)).toBe('completed');
    expect(runs).toEqual([text, 'go']);
    await isOver(gateway, 'COMPLETED');
  });

  it('an answer that the agent has not begun with: it gets the answer once', async () => {
    const { agent, runs, release } = held();
    const gateway = await replaceable(serve(agent));
    await submit(gateway, 'ask');
    await became(gateway, { form: { formId: expect.any(String) } });
    await gateway.tasks.answer('t', { text: 'go' });
    await gateway.replace();
    release();
    await became(gateway, { status: 'completed' });
    expect(runs).toEqual(['ask', 'go']);
    await isOver(gateway, 'COMPLETED');
  });

  it.each([
    ['before the agent is heard again', true],
    ['after the agent was seen to ask still', false],
  ])(
    'an answer whose reply is lost, which the client repeats %s: it is one message',
    async (_when, early) => {
      const { agent, runs, release } = held();
      const gateway = await replaceable(serve(agent, { bindings: [httpJsonServer, jsonRpcServer] }));
      await submit(gateway, 'ask');
      await became(gateway, { form: { formId: expect.any(String) } });
      const { form, sequence } = await gateway.tasks.get('t');
      const answer = () => gateway.tasks.answer('t', { text: 'go' }, form!.formId);
      const heard = Promise.withResolvers<void>();
      const sent = Promise.withResolvers<void>();
      gateway.holdSends(sent.promise);
      await answer();
      const { isAtAgent } = await gateway.replace(early ? heard.promise : undefined);
      await isAtAgent();
      const asksAgain = () =>
        gateway.written()[1].some((fact) => statusOf(fact) === 'TASK_STATE_AUTH_REQUIRED');
      if (!early) await eventually(() => expect(asksAgain()).toBe(true));
      expect((await gateway.tasks.get('t')).sequence).toBeGreaterThan(sequence);
      await answer();
      heard.resolve();
      sent.resolve();
      release();
      await became(gateway, { status: 'completed' });
      expect(new Set(gateway.written().flat().flatMap(idOfAnswer)).size).toBe(1);
      expect(runs).toEqual(['ask', 'go']);
      await isOver(gateway, 'COMPLETED');
    },
  );

  it('a cancel: the task and that of the agent are canceled', async () => {
    const { agent, runs, aborted } = held();
    const gateway = await replaceable(serve(agent));
    await submit(gateway, 'deaf');
    const follower = watched(gateway);
    await became(gateway, { status: 'in_progress' });
    const canceling = gateway.tasks.cancel('t');
    await aborted;
    await gateway.replace();
    expect(await canceling).toMatchObject({ status: 'canceled' });
    expect((await follower).at(-1)).toBe('canceled');
    expect(runs).toEqual(['deaf']);
    await eventually(() => isOver(gateway, 'CANCELED'));
  });

  it('a call that the agent makes: the agent and its child run once', async () => {
    const child = held();
    const childUrl = await listen(nodeHandler(serve(child.agent)));
    let calls = 0;
    const parent = nestedTasks({
      card: { ...card, name: 'Parent' },
      async *agent(turn) {
        calls++;
        const { task } = await turn.call(childUrl, 'go', { name: 'child' });
        yield completed(task?.status.state);
      },
    });
    const gateway = await replaceable(serve(parent.agent, parent));
    await submit(gateway, 'go');
    await eventually(() => expect(child.runs).toEqual(['go']));
    const { isAtAgent } = await gateway.replace();
    await isAtAgent();
    child.release();
    await became(gateway, { status: 'completed', result: { text: 'TASK_STATE_COMPLETED' } });
    expect([calls, child.runs]).toEqual([1, ['go']]);
    await isOver(gateway, 'COMPLETED');
  });

  it('a long poll: it ends at once with the task as it is', async () => {
    const { agent } = held();
    const gateway = await replaceable(serve(agent));
    await submit(gateway, 'go');
    await became(gateway, { status: 'in_progress' });
    gateway.asked.length = 0;
    const poll = fetch(`${gateway.url}/task/t?after=1000&wait=60`);
    await eventually(() => expect(gateway.asked).toEqual(['subscribe', 'load']));
    await gateway.replace();
    expect(await (await poll).json()).toMatchObject({ status: 'in_progress' });
    expect(gateway.askedLate).toEqual([]);
  });
});
