import { createServer, type RequestListener } from 'node:http';
import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { decodeSse, type SseEvent } from '@batonjs/bindings';
import { connect } from '@batonjs/client';
import { type AgentServer, append, artifact, completed } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { memoryStore } from '@batonjs/store-memory';
import { DefaultChatTransport } from 'ai';
import { expect, it } from 'vitest';
import { TestChat } from '../../../packages/ai-sdk/test/chat/test-chat.ts';
import { listen } from '../../kit/listen.ts';
import { say } from '../../kit/rpc.ts';
import { serve } from '../../kit/serve.ts';
import { untilAborted } from '../../kit/until-aborted.ts';

/** Streams of a host that ends a function at its limit: what follows them goes on where it was, at another instance. */

type Road = (server: AgentServer) => Parameters<typeof nodeHandler>[0];

/** A host whose first instance never gets to the end of an answer. Instances share a store. */
async function host(road: Road = (server) => server) {
  const store = memoryStore();
  const instances: AgentServer[] = [];
  /** What the later instances wait for in the middle of the answer. */
  let gate = Promise.resolve();
  const next = { pause: () => {}, go: () => {} };
  next.pause = () => {
    gate = new Promise((resolve) => {
      next.go = resolve;
    });
  };
  const open = () => {
    const count = instances.length;
    const agent = serve(
      async function* ({ signal }) {
        yield artifact('answer', 'Half ');
        await (count === 0 ? untilAborted(signal) : gate);
        yield append('answer', 'and half');
        yield completed();
      },
      { store, run: 'due', restart: 'rerun', messages: { idempotency: true } },
    );
    instances.push(agent);
    return nodeHandler(road(agent));
  };
  let handle: RequestListener = open();
  const http = createServer((request, response) => handle(request, response));
  const url = await listen(http);
  return {
    ...{ url, next },
    /** The limit: all that streams ends, and the next instance has a cron. Resolves when that has nothing more to do. */
    async limit(): Promise<void> {
      handle = open();
      http.closeAllConnections();
      const next = instances.at(-1)!;
      for (let turns = 0; turns === 0; ) ({ turns } = (await next.runDue({ forMs: 10_000 }))!);
    },
  };
}

const post = (url: string, body: object, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify(body),
  });

/** Reads until an event passes, or to an end that may come in the middle. */
async function read(
  response: Response,
  passes: (event: SseEvent) => boolean = () => false,
): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  try {
    for await (const event of decodeSse(response.body!)) {
      events.push(event);
      if (passes(event)) break;
    }
  } catch {
    // The host ended it.
  }
  return events;
}

const texts = (events: readonly SseEvent[]) => events.map(({ data }) => data).join('\n');

it('a plain client goes on after the last event that it has seen', async () => {
  const { url, limit } = await host();
  const response = await post(`${url}/message:stream`, { message: say('Hello') });
  const before = await read(response, ({ data }) => data.includes('Half '));
  const taskId = /"taskId":"([^"]+)"/.exec(texts(before))![1]!;
  await limit();
  const headers = { 'a2a-version': '1.0', 'last-event-id': before.at(-1)!.id! };
  const after = await read(await fetch(`${url}/tasks/${taskId}:subscribe`, { headers }));
  expect(texts(after)).toContain('and half');
  expect(texts(after)).toContain('TASK_STATE_COMPLETED');
  const seen = before.map(({ id }) => id);
  for (const { id } of after) expect(seen).not.toContain(id);
});

it("Baton's client follows to the end as if nothing had happened", async () => {
  const { url, limit } = await host();
  const client = await connect(url, { retry: { firstMs: 1 } });
  const answer = new Map<string, string>();
  let cut: Promise<void> | undefined;
  for await (const { artifactUpdate } of client.stream('Hello')) {
    if (!artifactUpdate) continue;
    const { artifact, append } = artifactUpdate;
    const text = artifact.parts.map((part) => ('text' in part ? part.text : '')).join('');
    answer.set(artifact.artifactId, (append ? answer.get(artifact.artifactId) : '') + text);
    cut ??= limit();
  }
  await cut;
  expect([...answer.values()]).toEqual(['Half and half']);
});

it('a page with useChat resumes an open answer from its beginning, and reads one that has ended', async () => {
  const { url, limit, next } = await host((server) => chatHandler(server));
  const chat = new TestChat({ id: 'chat-1', transport: new DefaultChatTransport({ api: url }) });
  const sent = chat.sendMessage({ text: 'Hello' });
  await expect.poll(() => chat.text).toBe('Half ');
  next.pause();
  const run = limit();
  await sent;
  expect(chat.status).toBe('error');
  const resumed = chat.resumeStream();
  await expect.poll(() => chat.status).toBe('streaming');
  next.go();
  await Promise.all([run, resumed]);
  expect([chat.status, chat.text]).toEqual(['ready', 'Half and half']);
  expect((await fetch(`${url}/chat-1/stream`)).status).toBe(204);
  expect(await (await fetch(`${url}/chat-1/messages`)).text()).toContain('Half and half');
});

it('a run of AG-UI goes on after its last position', async () => {
  const { url, limit } = await host((server) => agUiHandler(server));
  const messages = [{ id: 'm-1', role: 'user', content: 'Hello' }];
  const input = { threadId: 'thread-1', runId: 'run-1', messages, tools: [], context: [] };
  const before = await read(await post(url, input), ({ data }) => data.includes('"delta":"Half "'));
  await limit();
  const position = before.findLast(({ id }) => id !== undefined)!.id!;
  const after = await read(await post(url, input, { 'last-event-id': position }));
  expect(texts(after)).toContain('and half');
  expect(texts(after)).toContain('RUN_FINISHED');
  expect(texts(after)).not.toContain('MESSAGES_SNAPSHOT');
});
