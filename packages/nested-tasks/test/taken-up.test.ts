import { connect, textOf } from '@batonjs/client';
import { TASK_PROGRESS } from '@batonjs/extensions/client';
import { type CallingAgent, type CallOptions, relayAll } from '@batonjs/nested-tasks';
import type { Task } from '@batonjs/protocol';
import {
  type Agent,
  type AgentServer,
  append,
  artifact,
  authRequired,
  completed,
  inputRequired,
  working,
} from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { eventually } from '../../../test/kit/until.ts';
import { clientOf, serveParent, tasksOf } from './family.ts';

/** The way to an agent, on which a test stands: it may hold the answers of some methods back, or refuse them. */
function roadTo(server: AgentServer) {
  const road = {
    held: new Set<string>(),
    lost: new Set<string>(),
    asked: [] as string[],
    failures: [] as Error[],
  };
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return server.fetch(request);
    const { method } = await request.clone().json();
    road.asked.push(method);
    const failure = road.failures.shift();
    if (failure) throw failure;
    const response = await server.fetch(request);
    if (road.lost.has(method)) throw new TypeError('fetch failed', { cause: new Error('reset') });
    return road.held.has(method) ? new Promise(() => {}) : response;
  };
  return Object.assign(road, { open: () => connect('http://localhost', { fetch, retry: false }) });
}

/** A parent that each process starts again, with a client of its own. */
function parentOf(road: ReturnType<typeof roadTo>, options: Partial<CallOptions> = {}) {
  const store = memoryStore();
  const agent: CallingAgent = async function* (turn) {
    const { task } = await turn.call(await road.open(), 'Go', { name: 'child', ...options });
    yield completed(textOf(task?.status.message));
  };
  return () => serveParent(agent, { unreachableMs: 60_000 }, { store });
}

const ending = async (server: AgentServer, { id }: Task) =>
  textOf((await (await clientOf(server)).follow(id).result()).task?.status.message);

describe('the next process', () => {
  it('finds the task that a message started, among others of its context, and starts no second one', async () => {
    const released = Promise.withResolvers<void>();
    const agent: Agent = async function* ({ text }) {
      yield working('Working');
      if (text === 'Go') await released.promise;
      yield completed(`Done with ${text}`);
    };
    const child = serve(agent, { messages: { idempotency: false } });
    const road = roadTo(child);
    road.held.add('SendStreamingMessage');
    const start = parentOf(road, { contextId: 'shared' });
    const first = start();
    const { task } = await (await clientOf(first)).send('Go', { returnImmediately: true });
    await eventually(async () => expect(await tasksOf(child)).toHaveLength(1));
    await first.close({ graceMs: 0 });
    await (await clientOf(child)).send('Other', { contextId: 'shared' });
    road.held.clear();
    const second = start();
    released.resolve();
    expect(await ending(second, task!)).toBe('Done with Go');
    expect(await tasksOf(child)).toHaveLength(2);
  });

  it('sends the answer that the agent gave before, once, and does not ask the agent again', async () => {
    const child = serve(async function* ({ messages }) {
      const said = messages.filter(({ role }) => role === 'ROLE_USER').map((message) => textOf(message));
      if (said.length === 1) return yield inputRequired('Which?');
      yield completed(said.join());
    });
    const road = roadTo(child);
    let questions = 0;
    const onQuestion = () => {
      questions += 1;
      road.held.add('SendStreamingMessage');
      return `answer ${questions}`;
    };
    const start = parentOf(road, { onQuestion });
    const first = start();
    const { task } = await (await clientOf(first)).send('Go', { returnImmediately: true });
    await eventually(async () =>
      expect((await tasksOf(child)).map(({ status }) => status.state)).toEqual(['TASK_STATE_COMPLETED']),
    );
    await first.close({ graceMs: 0 });
    road.held.clear();
    expect(await ending(start(), task!)).toBe('Go,answer 1');
    expect(questions).toBe(1);
  });

  it('goes on with a child that waits for an authorization, and passes on what the user says', async () => {
    const child = serve(async function* ({ inbox }) {
      yield authRequired('Which code?');
      yield completed(`Signed in with ${textOf(await inbox.take())}`);
    });
    const start = parentOf(roadTo(child));
    const first = start();
    const client = await clientOf(first);
    const { task } = await client.send('Go', { returnImmediately: true });
    const waits = async (server: AgentServer) =>
      expect((await (await clientOf(server)).getTask({ id: task!.id })).status.state).toBe(
        'TASK_STATE_AUTH_REQUIRED',
      );
    await eventually(() => waits(first));
    await first.close({ graceMs: 0 });
    const second = start();
    await (await clientOf(second)).send('1234', { task: task!, returnImmediately: true });
    expect(await ending(second, task!)).toBe('Signed in with 1234');
  });

  it('tries again where the agent of a child that asked is out of reach for a moment', async () => {
    const child = serve(async function* ({ messages }) {
      if (messages.length === 1) return yield inputRequired('Which?');
      yield completed('Done');
    });
    const road = roadTo(child);
    const server = parentOf(road)();
    const client = await clientOf(server);
    const { task } = await client.send('Go');
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    for (const _ of [1, 2]) road.failures.push(new TypeError('fetch failed', { cause: refused }));
    await client.send('This', { task: task!, returnImmediately: true });
    expect(await ending(server, task!)).toBe('Done');
    expect(road.failures).toEqual([]);
  });
});

describe('a message that got no answer', () => {
  const failing =
    (cause: object = {}) =>
    ({ failures }: ReturnType<typeof roadTo>) =>
      failures.push(new TypeError('fetch failed', { cause: Object.assign(new Error('failed'), cause) }));

  it.each<[string, (road: ReturnType<typeof roadTo>) => unknown, string, number]>([
    ['is sent again after ECONNREFUSED', failing({ code: 'ECONNREFUSED' }), 'Done', 1],
    ['is sent again after ENOTFOUND', failing({ code: 'ENOTFOUND' }), 'Done', 1],
    ['is sent again after EAI_AGAIN', failing({ code: 'EAI_AGAIN' }), 'Done', 1],
    [
      'is not sent again if that is not known',
      failing(),
      'whether the agent received the message is not known',
      0,
    ],
    ['and was received is followed', ({ lost }) => lost.add('SendStreamingMessage'), 'Done', 1],
  ])('%s', async (_, breaks, end, count) => {
    const child = serve(
      async function* () {
        yield completed('Done');
      },
      { messages: { idempotency: false } },
    );
    const road = roadTo(child);
    breaks(road);
    const server = parentOf(road)();
    const { task } = await (await clientOf(server)).send('Go', { returnImmediately: true });
    expect(await ending(server, task!)).toContain(end);
    expect(await tasksOf(child)).toHaveLength(count);
  });
});

describe('a child', () => {
  it.each([[], [TASK_PROGRESS]])(
    'gets the extension for progress only if the caller uses it: %s',
    async (...uris) => {
      const seen: (readonly string[])[] = [];
      const child = serve(
        async function* ({ extensions }) {
          seen.push(extensions);
          yield completed();
        },
        {
          card: {
            name: 'Child',
            description: 'Reports',
            capabilities: { extensions: [{ uri: TASK_PROGRESS }] },
          },
        },
      );
      const server = serveParent(
        async function* (turn) {
          await turn.call(child, 'Go', { name: 'child' });
          yield completed();
        },
        {},
        {
          card: {
            name: 'Parent',
            description: 'Calls',
            capabilities: { extensions: [{ uri: TASK_PROGRESS }] },
          },
        },
      );
      await (await clientOf(server, { extensions: uris })).send('Go');
      expect(seen.map((each) => each.includes(TASK_PROGRESS))).toEqual([uris.length > 0]);
    },
  );

  it('has its artifacts passed on as they are, and a status without words', async () => {
    const child = serve(async function* () {
      yield artifact('letters', 'a');
      yield append('letters', 'b');
      yield { ...append('letters', 'c'), lastChunk: true };
      yield completed();
    });
    const server = serveParent(async function* (turn) {
      await turn.call(child, 'Go', { name: 'child', relay: relayAll });
      const relay = () => ({ status: { state: 'TASK_STATE_WORKING' as const } });
      await turn.call(child, 'Go', { name: 'other', relay });
      yield completed();
    });
    const events: object[] = [];
    for await (const { artifactUpdate } of (await clientOf(server)).stream('Go'))
      if (artifactUpdate) {
        const { append: isAppended, lastChunk } = artifactUpdate;
        events.push([textOf(artifactUpdate.artifact), isAppended ?? false, lastChunk ?? false]);
      }
    expect(events).toEqual([
      ['a', false, false],
      ['b', true, false],
      ['c', true, true],
    ]);
    const [task] = await tasksOf(server);
    expect([task?.status.state, textOf(task?.artifacts?.[0])]).toEqual(['TASK_STATE_COMPLETED', 'abc']);
  });
});
