import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type ClientBinding, type ClientTransport, httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03, v03Client, v03Grpc } from '@batonjs/bindings-v0-3';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import type { OperationName } from '@batonjs/protocol/operations';
import { artifact, completed, inputRequired, working } from '@batonjs/server';
import { listenProbes, nodeHandler } from '@batonjs/server-node';
import { sqliteStore } from '@batonjs/store-sqlite';
import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually } from '../kit/until.ts';
import { canaries } from './canaries.ts';

/** A server that is told every credential, and prints all that it can: log and telemetry. */
async function serveSecrets() {
  const secrets = canaries();
  const { providers, spans, metrics } = observed();
  const folder = temporaryFolder();
  const credentials = {
    authorization: `Bearer ${secrets.plant('bearer token')}`,
    'proxy-authorization': `Basic ${Buffer.from(`me:${secrets.plant('Basic password')}`).toString('base64')}`,
    'x-api-key': secrets.plant('API key'),
    cookie: `session=${secrets.plant('cookie')}`,
  };
  const hook = await webhook((_got, before) => (before < 2 ? 500 : 200));
  const configuration = {
    taskPushNotificationConfig: {
      url: `${hook.url()}?signature=${encodeURIComponent(secrets.plant('signed URL'))}`,
      token: secrets.plant('webhook token'),
      authentication: { scheme: 'Bearer', credentials: secrets.plant('webhook credentials') },
    },
  };
  // What only the agent and its operators see.
  const insides = {
    memory: secrets.plant('memory'),
    kept: secrets.plant('kept step'),
    failure: secrets.plant('failure of a step'),
    thrown: secrets.plant('failure of the agent'),
    logged: secrets.plant('logged line'),
  };
  const server = serve(
    async function* ({ text, message, memory, step, log }) {
      log.info('Line', { field: insides.logged });
      yield working('At it');
      await memory.set('kept', insides.memory);
      await step('kept', { keep: 'task' }, () => insides.kept);
      await step('tried', { retries: 1, backoff: { initialMs: 0 } }, ({ attempt }) => {
        if (attempt === 1) throw new Error(insides.failure);
      });
      for (const secret of Object.values(insides)) secrets.arrive(secret);
      if (text.includes('throw')) throw new Error(insides.thrown);
      if (text.includes('invalid')) yield artifact('', '');
      yield artifact('answer', `${text} ${message.messageId}`);
      if (text.includes('ask')) return yield inputRequired('Well?');
      yield completed();
    },
    {
      store: closedAfterTest(sqliteStore(join(folder, 'tasks.db'))),
      retry: { retries: 1, backoff: { initialMs: 0 } },
      telemetry: telemetry({ ...providers, expose: true }),
      logger: (level, message, details) => secrets.leave('the log', [level, message, details]),
      compatibility: [v03()],
      push: { allow: ['127.0.0.1'], updates: 'all', retry: { baseDelayMs: 1, maxAttempts: 3 } },
      authenticate({ headers, query }) {
        secrets.arrive(`${JSON.stringify(headers)} ${query}`);
        if (headers['x-refuse']) return undefined;
        return { scope: 'someone' };
      },
    },
  );
  const token = secrets.plant('token of the metrics');
  const probes = await listenProbes(server, { metrics: metricsHandler(server, { token }) });
  onTestFinished(() => probes.close());
  /** What the monitoring reads, and who has no token, or that of another. */
  const monitored = async () => {
    for (const given of [token, `${token}x`])
      for (const path of ['/metrics', '/readyz', '/startupz', '/livez', '/none']) {
        const authorization = `Bearer ${given}`;
        const response = await fetch(`${probes.url}${path}?token=${encodeURIComponent(given)}`, {
          headers: { authorization },
        });
        if (path === '/metrics' && response.ok) secrets.arrive(authorization);
        secrets.leave('the port of probes', [Object.fromEntries(response.headers), await response.text()]);
      }
  };
  /** Notes what was sent to webhooks and exported. */
  const collect = async () => {
    for (const { headers, text, path } of hook.received) {
      secrets.arrive(`${JSON.stringify(headers)} ${path}`);
      secrets.leave('the body of a webhook', text);
    }
    for (const { name, attributes, events, links, status } of spans())
      secrets.leave('a span', { name, attributes, events, links, status });
    secrets.leave('metrics', await metrics());
    await monitored();
    secrets.leave('the card', server.card);
    for (const file of readdirSync(folder)) secrets.leave('a file', readFileSync(join(folder, file)));
  };
  return { secrets, server, hook, credentials, configuration, collect };
}

type Served = Awaited<ReturnType<typeof serveSecrets>>;

const streams: readonly OperationName[] = ['SendStreamingMessage', 'SubscribeToTask'];

/** Calls of all kinds: those that succeed, and those that fail in each part of the server. */
function callsWith({ configuration, hook }: Served) {
  const { taskPushNotificationConfig: config } = configuration;
  const refused = { ...config, url: config.url.replace('http:', 'ftp:') };
  const inside = { ...config, url: config.url.replace(`127.0.0.1:${hook.port}`, '10.1.2.3:80') };
  return [
    ['SendMessage', { message: say('go'), configuration }],
    ['SendStreamingMessage', { message: say('go'), configuration }],
    ['SendMessage', { message: say('throw'), configuration }],
    ['SendStreamingMessage', { message: say('throw'), configuration }],
    ['SendMessage', { message: say('invalid'), configuration }],
    ['SendMessage', { message: say('ask'), configuration }],
    ['SendMessage', { message: say('go'), configuration: { taskPushNotificationConfig: refused } }],
    ['SendMessage', { message: say('go'), configuration: { taskPushNotificationConfig: inside } }],
    ['SendMessage', { message: {}, configuration }],
    ['CreateTaskPushNotificationConfig', { taskId: 'none', ...config }],
    ['CreateTaskPushNotificationConfig', { taskId: '', ...inside }],
    ['GetTask', { id: 'none' }],
    ['SubscribeToTask', { id: 'none' }],
    ['ListTasks', { pageSize: -1 }],
    ['ListTasks', {}],
    ['CancelTask', { id: 'none' }],
  ] as const satisfies readonly (readonly [OperationName, object])[];
}

type Ask = (operation: OperationName, params: object, headers: Record<string, string>) => Promise<unknown>;

/** Sends a request over HTTP and reads all of the response, as text. */
const overHttp =
  (binding: ClientBinding, version = '1.0') =>
  async (served: Served): Promise<Ask> => {
    const url = await listen(nodeHandler(served.server));
    const key = encodeURIComponent(served.secrets.plant('API key in the query'));
    return async (operation, params, more) => {
      const call = binding.encodeCall({ operation, params: { ...params } }, url);
      const { method, headers, body } = call;
      const spoken = { 'a2a-version': version, ...more };
      const target = `${call.url}${call.url.includes('?') ? '&' : '?'}key=${key}`;
      const response = await fetch(target, { method, headers: { ...headers, ...spoken }, body });
      return [
        response.status,
        response.statusText,
        Object.fromEntries(response.headers),
        await response.text(),
      ];
    };
  };

const through =
  (transport: ClientTransport, url: string, version = '1.0'): Ask =>
  async (operation, params, more) => {
    const headers = { 'a2a-version': version, ...more };
    const { signal } = new AbortController();
    const [call, request] = [
      { operation, params: { ...params } },
      { url, headers, signal, maxBytes: 2 ** 20 },
    ];
    if (!streams.includes(operation)) return transport.call(call, request);
    const events: unknown[] = [];
    for await (const event of transport.stream(call, request)) events.push(event);
    return events;
  };

const [jsonRpc03, httpJson03] = v03Client().bindings as [ClientBinding, ClientBinding];

/** Listens for gRPC, in the version of the client. */
const overGrpc =
  (options: Parameters<typeof grpcClient>[0], version?: string) =>
  async ({ server }: Served): Promise<Ask> => {
    const listener = await listenGrpc(server, { port: 0, plaintext: true, versions: [v03Grpc()] });
    onTestFinished(() => listener.close({ graceMs: 0 }));
    return through(grpcClient(options), `127.0.0.1:${listener.port}`, version);
  };

const roads: readonly (readonly [name: string, open: (served: Served) => Promise<Ask>])[] = [
  ['JSON-RPC', overHttp(jsonRpcClient)],
  ['HTTP+JSON', overHttp(httpJsonClient)],
  ['gRPC', overGrpc({})],
  ['JSON-RPC of 0.3', overHttp(jsonRpc03, '0.3')],
  ['HTTP+JSON of 0.3', overHttp(httpJson03, '0.3')],
  ['gRPC of 0.3', overGrpc({ version: v03Grpc() }, '0.3')],
  [
    'WebSocket',
    async ({ server }) => {
      const listener = createServer(nodeHandler(server));
      const endpoint = attachWebSocket(server, listener);
      onTestFinished(() => endpoint.close({ graceMs: 0 }));
      await listen(listener);
      const client = webSocketClient();
      onTestFinished(() => client.close());
      return through(client, endpoint.url!);
    },
  ],
];

describe('no secret leaves a server', () => {
  it.each(roads)('over %s', async (_, open) => {
    const served = await serveSecrets();
    const { secrets, credentials, hook, collect } = served;
    const ask = await open(served);
    const kinds: Record<string, string>[] = [{}, { 'x-refuse': 'true' }, { 'a2a-version': '7.0' }];
    for (const more of kinds)
      for (const [operation, params] of callsWith(served)) {
        const asked = ask(operation, params, { ...credentials, ...more });
        secrets.leave('a response', await asked.catch((error: unknown) => error));
      }
    const { task } = await rpc(served.server, 'SendMessage', { message: say('ask') }, credentials);
    const { taskPushNotificationConfig: config } = served.configuration;
    for (const operation of [
      'CreateTaskPushNotificationConfig',
      'ListTaskPushNotificationConfigs',
    ] as const) {
      const asked = ask(operation, { taskId: task.id, ...config }, credentials);
      secrets.leave('a webhook that its owner reads', await asked);
    }
    // The words of both versions.
    await eventually(() =>
      expect(JSON.stringify(hook.received.map(({ text }) => text))).toMatch(/completed/i),
    );
    await collect();
    // Spec: §9.4.7: the caller who registered a webhook gets its whole configuration.
    secrets.check([
      ...['signed URL', 'webhook token', 'webhook credentials'].flatMap((place) => [
        `${place} in a webhook that its owner reads`,
        // The store keeps what it needs to notify the webhook.
        `${place} in a file`,
      ]),
      // And what the agent remembers and logs, and why it failed, for operators.
      ...['memory', 'kept step', 'failure of a step', 'failure of the agent', 'logged line'].map(
        (place) => `${place} in a file`,
      ),
      'failure of the agent in the log',
      'logged line in the log',
    ]);
  });
});
