import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { change, unavailable } from '../../../../test/kit/faulty-store.ts';
import { brief, rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Clock, systemClock } from '../../src/base/timing/clock.ts';
import {
  type Agent,
  type AgentServer,
  append,
  artifact,
  completed,
  reply,
  working,
} from '../../src/index.ts';

const chunk = 'x'.repeat(1_000);
const chunks = 300;

/** Streams `chunks` chunks, once it is let go. */
function talker(): { agent: Agent; letGo: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    letGo: resolve,
    async *agent() {
      yield working();
      await promise;
      yield artifact('long', chunk);
      for (let n = 1; n < chunks; n++) yield append('long', chunk);
      yield completed();
    },
  };
}

const begin = async (server: AgentServer): Promise<string> => {
  const configuration = { returnImmediately: true };
  return (await rpc(server, 'SendMessage', { message: say('go'), configuration })).task.id;
};

const toSubscribe = (taskId: string) => ({ path: `/tasks/${taskId}:subscribe`, body: '' });

const toCall = (method: string, params: object) => ({
  path: '/',
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

/** The texts of the stream that answers a request, as they are to be written; `leave` aborts the request. */
async function open(server: AgentServer, asked: { path: string; body: string }, lastEventId?: string) {
  const gone = new AbortController();
  const { status, body } = await server.handle({
    method: 'POST',
    path: asked.path,
    query: new URLSearchParams(),
    headers: {
      'a2a-version': '1.0',
      ...(asked.body && { 'content-type': 'application/json' }),
      ...(lastEventId && { 'last-event-id': lastEventId }),
    },
    readBody: async () => ({ bytes: new TextEncoder().encode(asked.body) }),
    signal: gone.signal,
  });
  if (typeof body !== 'object') throw new Error(`${status}: ${body}`);
  return { status, texts: body[Symbol.asyncIterator](), leave: () => gone.abort() };
}

const follow = (server: AgentServer, taskId: string, lastEventId?: string) =>
  open(server, toSubscribe(taskId), lastEventId);

async function readAll(texts: AsyncIterator<string>): Promise<string[]> {
  const all: string[] = [];
  for (let next = await texts.next(); !next.done; next = await texts.next()) all.push(next.value);
  return all;
}

/** A clock on which the time between heartbeats is over when `pass` is called. */
function heartbeats(every: number) {
  let passed = 0;
  let wake = (): void => expect.fail(`Nothing waits for ${every} ms`);
  const clock: Partial<Clock> = {
    monotonic: () => systemClock.monotonic() + passed,
    sleep: (ms, signal) =>
      ms > every - 1_000 && ms <= every
        ? new Promise<void>((resolve) => {
            wake = resolve;
          })
        : systemClock.sleep(ms, signal),
  };
  const pass = () => {
    passed += every;
    wake();
  };
  return { clock, pass };
}

const versions = (text: string) => Array.from(text.matchAll(/^id: .+\.(\d+)~\w+$/gm), ([, n]) => Number(n));

/** A store that counts how often it was read. */
function counted(): { store: TaskStore; reads: () => number } {
  const store = memoryStore();
  let reads = 0;
  const readFacts: TaskStore['readFacts'] = (...params) => {
    reads++;
    return store.readFacts(...params);
  };
  return { store: { ...store, readFacts }, reads: () => reads };
}

it('sends at once all events that are stored, in pieces that stay small', async () => {
  const { agent, letGo } = talker();
  const server = serve(agent);
  const taskId = await begin(server);
  const first = await follow(server, taskId);
  letGo();
  const written = (await readAll(first.texts)).join('');
  const [position] = /(?<=^id: ).+$/m.exec(written)!;

  const again = await readAll((await follow(server, taskId, position)).texts);
  expect(again.length).toBeLessThan(10);
  for (const text of again) expect(text.length).toBeLessThan(70_000);
  expect(versions(again.join(''))).toEqual(versions(written).slice(1));
});

it('reads no further for a reader that does not read', async () => {
  const { store, reads } = counted();
  const { agent, letGo } = talker();
  const server = serve(agent, { store });
  const taskId = await begin(server);
  const slow = await follow(server, taskId);
  const beginning = (await slow.texts.next()).value as string;
  const fast = await follow(server, taskId);
  letGo();
  const written = (await readAll(fast.texts)).join('');
  const before = reads();
  const next = (await slow.texts.next()).value as string;
  expect(next.length).toBeLessThan(70_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads() - before).toBeLessThan(2);
  const rest = await readAll(slow.texts);
  expect(versions([beginning, next, ...rest].join(''))).toEqual(versions(written));
});

it('gives every reader the same events', async () => {
  const { agent, letGo } = talker();
  const server = serve(agent);
  const taskId = await begin(server);
  const readers = await Promise.all(Array.from({ length: 5 }, () => follow(server, taskId)));
  letGo();
  const [one, ...others] = await Promise.all(
    readers.map(async ({ texts }) => (await readAll(texts)).join('')),
  );
  expect(versions(one!)).toHaveLength(1 + chunks + 1);
  for (const other of others) expect(other).toBe(one);
});

describe('a stream that has nothing to tell yet', () => {
  const ping = ': ping\n\n';

  it.each([
    ['JSON-RPC', (id: string) => toCall('SubscribeToTask', { id }), 15_000, {}],
    ['HTTP+JSON', toSubscribe, 8_500, { streams: { heartbeatMs: 8_500 } }],
  ])(
    'is answered at once when it resumes over %s, and kept alive [R-SSE-02] [R-STR-04]',
    async (_, asked, every, options) => {
      const { clock, pass } = heartbeats(every);
      const { agent, letGo } = talker();
      const server = serve(agent, { clock, ...options });
      const taskId = await begin(server);
      const first = await follow(server, taskId);
      let written = '';
      while (!written.includes('TASK_STATE_WORKING')) written += (await first.texts.next()).value;
      const position = Array.from(written.matchAll(/(?<=^id: ).+$/gm), ([id]) => id).at(-1);
      first.leave();

      const { status, texts } = await open(server, asked(taskId), position);
      expect([status, (await texts.next()).value]).toEqual([200, ping]);
      const silence = texts.next();
      pass();
      expect((await silence).value).toBe(ping);
      letGo();
      const rest = versions((await readAll(texts)).join(''));
      expect(rest).toHaveLength(chunks + 1);
      expect(rest[0]).toBe(Number(/\.(\d+)~/.exec(position!)![1]) + 1);
    },
  );

  it('is answered at once when an agent thinks about a message [R-SSE-02] [R-STR-04]', async () => {
    const thought = Promise.withResolvers<void>();
    const server = serve(async () => {
      await thought.promise;
      return reply('Hello');
    });
    const asked = toCall('SendStreamingMessage', { message: say('go') });
    const { status, texts } = await open(server, asked);
    expect([status, (await texts.next()).value]).toEqual([200, ping]);
    thought.resolve();
    expect((await readAll(texts)).join('')).toContain('"text":"Hello"');
  });

  it('is refused if the store cannot be asked for what the client missed', async () => {
    const memory = memoryStore();
    const { agent, letGo } = talker();
    const first = serve(agent, { store: memory });
    const taskId = await begin(first);
    const { texts } = await follow(first, taskId);
    const [position] = /(?<=^id: ).+$/m.exec((await texts.next()).value)!;
    letGo();
    await readAll(texts);
    const store = change(memory, {
      // One fact is read to check the position.
      readFacts: (readFacts) => (scope, id, after, limit, last) =>
        after < chunks && limit > 1
          ? Promise.reject(unavailable())
          : readFacts(scope, id, after, limit, last),
    });
    await expect(follow(serve(agent, { store }), taskId, position)).rejects.toThrow(/^503/);
  });
});

describe.each([
  ['that is in memory', (server: AgentServer) => server],
  ['that is read from the store', (_server: AgentServer, again: () => AgentServer) => again()],
])('a task that has ended %s', (_, serverOf) => {
  it('has nothing more for a client that saw its last event, and its last events for others', async () => {
    const store = memoryStore();
    const agent: Agent = async function* () {
      yield working();
      yield artifact('a', 'x');
      yield completed();
    };
    const first = serve(agent, { store });
    const begun = await open(first, toCall('SendStreamingMessage', { message: say('go') }));
    const written = (await readAll(begun.texts)).join('');
    const ids = Array.from(written.matchAll(/(?<=^id: ).+$/gm), ([id]) => id);
    const server = serverOf(first, () => serve(agent, { store }));
    const taskId = /"id":"([^"]+)"/.exec(written)![1]!;
    const seen = async (last: string | undefined) =>
      versions((await readAll((await follow(server, taskId, last)).texts)).join(''));
    expect(await seen(ids.at(-1))).toEqual([]);
    expect(await seen(ids.at(-3))).toEqual(versions(written).slice(-2));
  });
});

it('a task that its agent begins is shown with the first update, and every later update follows once', async () => {
  async function* updates() {
    yield working('One');
    yield artifact('a', 'x');
    yield completed();
  }
  // A server cannot know of a function that it answers with a task.
  const { texts } = await open(
    serve(() => updates()),
    toCall('SendStreamingMessage', { message: say('go') }),
  );
  const written = (await readAll(texts)).join('');
  const events = Array.from(written.matchAll(/^data: (.+)$/gm), ([, data]) =>
    brief(JSON.parse(data!).result),
  );
  expect(events).toEqual(['task WORKING', 'a:x', 'COMPLETED']);
});

it.each([
  [
    'returns the stream',
    async ({ texts }: Awaited<ReturnType<typeof follow>>) => void (await texts.return?.()),
  ],
  ['aborts the request', async ({ leave }: Awaited<ReturnType<typeof follow>>) => leave()],
])('lets go of a reader that %s', async (_, leave) => {
  const { agent } = talker();
  const server = serve(agent, { limits: { followersPerTask: 1 } });
  const taskId = await begin(server);
  const reader = await follow(server, taskId);
  await reader.texts.next();
  const last = reader.texts.next();
  await expect(follow(server, taskId)).rejects.toThrow('429');
  await leave(reader);
  expect(await last).toEqual({ done: true, value: undefined });
  expect(versions((await (await follow(server, taskId)).texts.next()).value)).toHaveLength(1);
});
