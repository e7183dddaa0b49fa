import type { TaskStore } from '@batonjs/store';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it } from 'vitest';
import { rpc, say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { type Agent, type AgentServer, append, artifact, completed, working } from '../../src/index.ts';

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

/** The texts of a stream on a task, as they are to be written; `leave` aborts the request. */
async function follow(server: AgentServer, taskId: string, lastEventId?: string) {
  const gone = new AbortController();
  const { status, body } = await server.handle({
    method: 'POST',
    path: `/tasks/${taskId}:subscribe`,
    query: new URLSearchParams(),
    headers: { 'a2a-version': '1.0', ...(lastEventId && { 'last-event-id': lastEventId }) },
    readBody: async () => ({ bytes: new Uint8Array() }),
    signal: gone.signal,
  });
  if (typeof body !== 'object') throw new Error(`${status}: ${body}`);
  return { texts: body[Symbol.asyncIterator](), leave: () => gone.abort() };
}

async function readAll(texts: AsyncIterator<string>): Promise<string[]> {
  const all: string[] = [];
  for (let next = await texts.next(); !next.done; next = await texts.next()) all.push(next.value);
  return all;
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
