import type { Task } from '@batonjs/protocol';
import type { AgentServer } from '@batonjs/server';
import { createWorker } from '@batonjs/server/worker';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { brief, rpc, say, stream } from '../kit/rpc.ts';
import { serveWith } from '../kit/serve.ts';
import { eventually, until } from '../kit/until.ts';
import { chunks } from './chunks.ts';

// The lease is longer than any test: only a task that was handed over goes on elsewhere.
const options = {
  restart: { maxAttempts: 3 },
  timeouts: { leaseMs: 600_000 },
  messages: { idempotency: true },
} as const;
const serve = serveWith(options);
const configuration = { returnImmediately: true };

/** What is closed in the middle, and what goes on with its tasks. */
interface Process {
  /** Where clients send requests before it closes. */
  readonly first: AgentServer;
  /** Closes it, starts another, lets the agent go on, and resolves to the server for requests from now on. */
  replace(): Promise<AgentServer>;
  readonly runs: readonly string[];
}

function server(): Process {
  const { agent, runs, release } = chunks();
  const store = memoryStore();
  const first = serve(agent, { store });
  const replace = async () => {
    await first.close({ graceMs: 0 });
    const second = serve(agent, { store });
    release();
    return second;
  };
  return { first, replace, runs };
}

function worker(): Process {
  const { agent, runs, release } = chunks();
  const store = memoryStore();
  const first = serve(agent, { store, run: 'workers' });
  const work = () => closedAfterTest(createWorker({ agent, store, logger: () => {}, ...options }));
  const closing = work();
  const replace = async () => {
    await closing.close({ graceMs: 0 });
    work();
    release();
    return first;
  };
  return { first, replace, runs };
}

/** Waits until the turn of a task is in its middle, and resolves to the id of the task. */
async function middle(at: AgentServer): Promise<string> {
  let id = '';
  await eventually(async () => {
    const { tasks } = await rpc(at, 'ListTasks', { includeArtifacts: true });
    const begun = tasks.find(({ artifacts }: Task) => artifacts?.length);
    expect(begun).toMatchObject({ artifacts: [{ parts: [{ text: '1' }] }] });
    id = begun.id;
  });
  return id;
}

/** Begins something, is called again when its process was replaced, and resolves to the id of the task. */
type Scenario = (process: Process) => Promise<{ readonly id: string; readonly at: AgentServer }>;

const scenarios: readonly (readonly [what: string, scenario: Scenario])[] = [
  [
    'a client that waits for the end of its task',
    async ({ first, replace }) => {
      const sending = rpc(first, 'SendMessage', { message: say('go') }).catch((error: Error) => error);
      const id = await middle(first);
      const at = await replace();
      await sending;
      return { id, at };
    },
  ],
  [
    'a client that had its answer at once',
    async ({ first, replace }) => {
      const { task } = await rpc(first, 'SendMessage', { message: say('go'), configuration });
      await middle(first);
      return { id: task.id, at: await replace() };
    },
  ],
  [
    'a message to the running turn',
    async ({ first, replace }) => {
      await rpc(first, 'SendMessage', { message: say('go'), configuration });
      const id = await middle(first);
      const message = say('more', { taskId: id });
      await rpc(first, 'SendMessage', { message, configuration });
      const at = await replace();
      const { history } = await until(at, id, 'COMPLETED');
      const users = history?.filter(({ role }) => role === 'ROLE_USER');
      expect(users).toMatchObject([{ parts: [{ text: 'go' }] }, { parts: [{ text: 'more' }] }]);
      return { id, at };
    },
  ],
  [
    'a message that is sent again elsewhere',
    async ({ first, replace }) => {
      const message = say('go');
      await rpc(first, 'SendMessage', { message, configuration });
      const id = await middle(first);
      const at = await replace();
      expect((await rpc(at, 'SendMessage', { message })).task.id).toBe(id);
      return { id, at };
    },
  ],
  [
    'several followers, each of which sees each event once',
    async ({ first, replace }) => {
      await rpc(first, 'SendMessage', { message: say('go'), configuration });
      const id = await middle(first);
      const seen = [[], []] as { id: string | undefined; word: string }[][];
      const read = async (events: (typeof seen)[number], at: AgentServer) => {
        const last = events.at(-1)?.id;
        const header = last === undefined ? undefined : { 'last-event-id': last };
        for await (const one of stream(at, 'SubscribeToTask', { id }, header))
          events.push({ id: one.id, word: brief(one.event) });
      };
      const reading = seen.map((events) => read(events, first).catch(() => {}));
      await eventually(() => expect(seen.map(({ length }) => length)).toEqual([1, 1]));
      const at = await replace();
      await Promise.all(reading);
      for (const events of seen) {
        if (!events.some(({ word }) => word === 'COMPLETED')) await read(events, at);
        const words = events.map(({ word }) => word);
        expect(words.filter((word) => word === 'a:2' || word === 'COMPLETED')).toEqual(['a:2', 'COMPLETED']);
      }
      return { id, at };
    },
  ],
  [
    'a list, whose next page another has',
    async ({ first, replace }) => {
      const { task } = await rpc(first, 'SendMessage', { message: say('ask') });
      await rpc(first, 'SendMessage', { message: say('go'), configuration });
      const id = await middle(first);
      const { tasks, nextPageToken: pageToken } = await rpc(first, 'ListTasks', { pageSize: 1 });
      const at = await replace();
      const next = await rpc(at, 'ListTasks', { pageSize: 1, pageToken });
      // Which comes first is open where both changed in the same millisecond.
      const listed = [...tasks, ...next.tasks].map(({ id }: Task) => id);
      expect(listed.toSorted()).toEqual([task.id, id].toSorted());
      return { id, at };
    },
  ],
];

describe.each([
  ['server', server],
  ['worker', worker],
])('a %s that is closed in the middle of', (_, open) => {
  it.each(scenarios)('%s: another ends the task, with each chunk and step once', async (_what, scenario) => {
    const process = open();
    const { id, at } = await scenario(process);
    const { artifacts } = await until(at, id, 'COMPLETED');
    expect(artifacts).toMatchObject([{ parts: [{ text: '1' }, { text: '2' }] }]);
    expect(process.runs.filter((run) => run === 'charged')).toHaveLength(1);
    // It was in its middle: another ran the agent again.
    expect(process.runs.filter((run) => run === 'go')).toHaveLength(2);
  });
});
