import { createServer } from 'node:http';
import { agUiHandler } from '@batonjs/ag-ui';
import { chatHandler } from '@batonjs/ai-sdk/chat-handler';
import { httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import { type ConnectOptions, connect } from '@batonjs/client';
import { fromExecutor } from '@batonjs/from-executor';
import {
  type Agent,
  type AgentServer,
  type AgentServerOptions,
  artifact,
  completed,
  type Part,
} from '@batonjs/server';
import { folderFiles, nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { image, scriptedModel } from '../../packages/ai-sdk/test/scripted-model.ts';
import { agentOn } from '../../packages/ai-sdk/test/served-agent.ts';
import { executor, publisher } from '../../packages/from-executor/test/executors.ts';
import { mcpClient, serveMcp } from '../../packages/mcp/test/clients.ts';
import { serveParent } from '../../packages/nested-tasks/test/family.ts';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { serveTasks } from '../../packages/task-gateway/test/service.ts';
import { roads } from '../kit/http/mounts.ts';
import { listen } from '../kit/listen.ts';
import { memoryFiles } from '../kit/memory-files.ts';
import { rpc, say, stream } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually } from '../kit/until.ts';

const film = new Uint8Array(Buffer.alloc(100_000, 'film'));
const about = { filename: 'film.mp4', mediaType: 'video/mp4' };
const sent = [{ raw: Buffer.from(film).toString('base64'), ...about }] as const;

/** Gives back the file that it is sent, or one of its own. */
const giving: Agent = async function* ({ message, saveFile }) {
  const [part] = message.parts;
  yield artifact('film', part && 'url' in part ? part : await saveFile(film, about));
  yield completed();
};

const serveFiles = (agent: Agent = giving, options: Partial<AgentServerOptions> = {}): AgentServer =>
  serve(agent, {
    card: { name: 'Films', description: 'Gives films', defaultInputModes: ['*/*'] },
    publicUrl: 'http://localhost/agent',
    files: { store: memoryFiles() },
    compatibility: [v03()],
    push: { allow: ['127.0.0.1'], updates: 'all' },
    ...options,
  });

const clientOf = (server: AgentServer, options: ConnectOptions = {}) =>
  connect('http://localhost', { fetch: server.fetch, ...options });
const post = (body: object, headers: Record<string, string> = {}) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const over = (options: ConnectOptions) => async (server: AgentServer) =>
  JSON.stringify(await (await clientOf(server, options)).send([...sent]));

/** What each front end hands on of an agent whose file left the log, as a text. */
const frontEnds: readonly (readonly [name: string, ask: (server: AgentServer) => Promise<string>])[] = [
  ['JSON-RPC', over({ bindings: [jsonRpcClient] })],
  ['HTTP+JSON', over({ bindings: [httpJsonClient] })],
  [
    'a stream',
    async (server) => {
      const events: unknown[] = [];
      for await (const { event } of stream(server, 'SendStreamingMessage', { message: say('go') }))
        events.push(event);
      return JSON.stringify(events);
    },
  ],
  [
    'a list',
    async (server) => {
      await rpc(server, 'SendMessage', { message: say('go') });
      return JSON.stringify(await rpc(server, 'ListTasks', { includeArtifacts: true }));
    },
  ],
  [
    'A2A 0.3',
    async (server) => {
      const file = { bytes: sent[0].raw, mimeType: about.mediaType, name: about.filename };
      const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'file', file }] };
      const call = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
      return (await server.fetch(post({ ...call, configuration: { blocking: true } }))).text();
    },
  ],
  [
    'gRPC',
    async (server) => {
      const listener = await listenGrpc(server, { port: 0 });
      onTestFinished(() => listener.close({ graceMs: 0 }));
      return over({ bindings: [grpcClient()] })(server);
    },
  ],
  [
    'WebSocket',
    async (server) => {
      const listener = createServer(nodeHandler(server));
      const endpoint = attachWebSocket(server, listener);
      const client = webSocketClient();
      onTestFinished(() => Promise.all([client.close(), endpoint.close({ graceMs: 0 })]).then(() => {}));
      const agent = await connect(await listen(listener), { bindings: [client] });
      return JSON.stringify(await agent.send([...sent]));
    },
  ],
  [
    'MCP',
    async (server) => {
      const { url } = await serveMcp(await clientOf(server));
      const client = await mcpClient(url, '2025-11-25');
      return JSON.stringify(await client.callTool({ name: 'Films', arguments: { message: 'go' } }));
    },
  ],
  [
    'AG-UI',
    async (server) => {
      const messages = [{ id: 'm', role: 'user', content: 'go' }];
      return (await agUiHandler(server).fetch(post({ threadId: 't', runId: 'r', messages }))).text();
    },
  ],
  [
    '`useChat`',
    async (server) => {
      const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'go' }] };
      const asked = { id: 'chat', trigger: 'submit-message', messages: [message] };
      return (await chatHandler(server).fetch(post(asked))).text();
    },
  ],
  [
    'webhooks',
    async (server) => {
      const hook = await webhook();
      const configuration = { taskPushNotificationConfig: { url: hook.url() } };
      await rpc(server, 'SendMessage', { message: say('go'), configuration });
      await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
      return JSON.stringify(hook.received.map(({ event }) => event));
    },
  ],
  [
    'nested tasks, from the child',
    async (server) => {
      const parent = serveParent(async function* (turn) {
        const { task } = await turn.call(server, 'go', { name: 'child' });
        yield artifact('taken', ...(task!.artifacts![0]!.parts as [Part, ...Part[]]));
        yield completed();
      });
      return JSON.stringify(await (await clientOf(parent)).send('go'));
    },
  ],
  [
    'the gateway',
    async (server) => {
      const service = await serveTasks({ types: { film: server } });
      await service.post('/task', { taskId: 't', type: 'film', data: { text: 'go' } });
      return JSON.stringify(await service.ended('t'));
    },
  ],
];

/** The first link in a text, and what it leads to. */
async function fileIn(text: string, server: AgentServer) {
  expect(text).not.toContain('baton-file:');
  const [link = 'no link'] = /http:\/\/localhost\/agent\/files\/[\w-]+/.exec(text) ?? [];
  return new Uint8Array(await (await server.fetch(new Request(link))).arrayBuffer());
}

describe('a file that left the log', () => {
  it.each(frontEnds)('is a link in %s', async (_, ask) => {
    const server = serveFiles();
    expect(await fileIn(await ask(server), server)).toEqual(film);
  });

  it('is a link for agents: in every member of a turn, for executors and for children', async () => {
    const seen: unknown[] = [];
    const child = serve(
      async function* ({ message }) {
        seen.push(message.parts);
        yield completed();
      },
      { card: { name: 'Child', description: 'For tests', defaultInputModes: ['*/*'] } },
    );
    const server = serveFiles(async function* (turn) {
      const { message, messages, task, context, references, inbox } = turn;
      const first = await inbox.take();
      seen.push(message, messages, task, first, await context.tasks(), await context.messages());
      seen.push(await references());
      await (await clientOf(child)).send([...message.parts]);
      yield completed();
    });
    const { task } = await rpc(server, 'SendMessage', {
      message: say([...sent]),
      configuration: immediately,
    });
    await rpc(server, 'SendMessage', { message: say([...sent], { taskId: task.id }) });
    for (const one of seen.slice(0, 4)) expect(await fileIn(JSON.stringify(one), server)).toEqual(film);
    expect(await fileIn(JSON.stringify(seen.at(-1)), server)).toEqual(film);
    const executing = serveFiles(
      fromExecutor(
        executor(async (context, bus) => {
          const { task: begin, chunk } = publisher(context, bus);
          begin();
          chunk('same', context.userMessage.parts);
          seen.push(context.userMessage);
          bus.finished();
        }),
      ),
    );
    await rpc(executing, 'SendMessage', { message: say([...sent]) });
    expect(await fileIn(JSON.stringify(seen.at(-1)), executing)).toEqual(film);
  });

  it('reaches a model as bytes, and one that a model makes leaves the log', async () => {
    const model = scriptedModel([image('p'.repeat(100_000))]);
    const server = serveFiles(agentOn(model));
    const { task } = await rpc(server, 'SendMessage', { message: say([...sent]) });
    const [{ content }] = model.doStreamCalls[0]!.prompt as unknown as [
      { content: [{ data: { data: Uint8Array } }] },
    ];
    expect(new Uint8Array(content[0].data.data)).toEqual(film);
    expect(await fileIn(JSON.stringify(task.artifacts), server)).toHaveLength(100_000);
  });
});

const immediately = { returnImmediately: true };
describe('an upload of the client', () => {
  it.each(roads)('goes to an agent on %s, and is read there in parts', async (_, mount) => {
    const served: { server?: AgentServer } = {};
    const listener = createServer((request, response) => handle(request, response));
    const url = `${await listen(listener)}/agent`;
    served.server = serveFiles(giving, {
      publicUrl: url,
      files: { store: folderFiles(temporaryFolder()), uploadBytes: 3_000_000 },
    });
    const handle = await mount(served.server);
    const agent = await connect(url);
    const bytes = Buffer.alloc(2_500_000, 'large');
    const progress: number[] = [];
    const part = await agent.upload(new File([bytes], 'a.mp4', { type: 'video/mp4' }), {
      onProgress: (sent) => progress.push(sent),
    });
    expect([progress.at(-1), part.filename, part.mediaType]).toEqual([2_500_000, 'a.mp4', 'video/mp4']);
    const { task } = await agent.send(part);
    const link = (task!.artifacts![0]!.parts[0] as { url: string }).url;
    const range = await fetch(link, { headers: { range: 'bytes=1000000-1000009' } });
    expect([range.status, await range.text()]).toEqual([206, 'largelarge']);
    expect(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(bytes)).toBe(true);
    const tooLarge = agent.upload(new Blob([Buffer.alloc(3_000_001)]));
    await expect(tooLarge).rejects.toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
    const stream = new Blob([Buffer.alloc(3_000_001)]).stream();
    await expect(agent.upload(stream)).rejects.toThrow('larger than 3000000 bytes');
    const stop = AbortSignal.abort();
    await expect(agent.upload(new Blob(['x']), { signal: stop })).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('is repeated with better credentials and follows no redirect, and is refused where the card offers none', async () => {
    const seen: unknown[] = [];
    const redirects = new Set<string>();
    const server = serveFiles(giving, {
      authenticate: ({ headers }) => {
        seen.push(headers.authorization);
        return headers.authorization === 'Bearer new' ? { scope: 'ana' } : undefined;
      },
    });
    const agent = await clientOf(server, {
      fetch: (request) => {
        if (request.method === 'POST') redirects.add(request.redirect);
        return server.fetch(request);
      },
      trustedOrigins: ['http://localhost'],
      credentials: ({ refused }) => ({ authorization: refused ? 'Bearer new' : 'Bearer old' }),
    });
    expect(await agent.upload(new Blob([film]))).toMatchObject({ url: expect.any(String) });
    expect(seen).toEqual(['Bearer old', 'Bearer new']);
    // Where one may be followed, `fetch` of Node.js keeps the whole file in memory.
    expect([...redirects]).toEqual(['error']);
    const none = await clientOf(serve(giving));
    await expect(none.upload(new Blob(['x']))).rejects.toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
  });
});
