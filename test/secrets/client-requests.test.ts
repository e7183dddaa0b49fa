import { createServer } from 'node:http';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { attachWebSocket, webSocketClient } from '@batonjs/bindings-websocket';
import { connect } from '@batonjs/client';
import { inspector } from '@batonjs/inspector';
import { artifact, completed, text, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../kit/listen.ts';
import { say } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { canaries } from './canaries.ts';

/** An agent that says again what it was sent, over every binding, and an inspector that keeps the requests of clients. */
async function serveWatched() {
  const secrets = canaries();
  const server = serve(
    async function* ({ message, caller }) {
      yield working(`For ${caller?.scope}: ${JSON.stringify(message.metadata ?? {})}`);
      yield artifact('answer', text('Done'));
      yield completed();
    },
    {
      push: { allow: ['127.0.0.1:*'], redactSecrets: false },
      compatibility: [v03()],
      authenticate({ headers, query }) {
        secrets.arrive(`${JSON.stringify(headers)} ${query}`);
        return headers.authorization || query.has('key') ? { scope: 'ada' } : undefined;
      },
    },
  );
  const http = createServer(nodeHandler(server));
  const socket = attachWebSocket(server, http);
  const url = await listen(http);
  const grpc = await listenGrpc(server, { host: '127.0.0.1', port: 0, plaintext: true });
  onTestFinished(() => grpc.close({ graceMs: 0 }));
  onTestFinished(() => socket.close({ graceMs: 0 }));
  const token = 'the-token-of-the-inspector';
  const inspect = inspector({
    server,
    url,
    token,
    allow: ['read-requests'],
    clientRequests: true,
  });
  onTestFinished(() => inspect.close());
  const own = await listen(createServer(inspect));
  /** The feed until a text stands in it. */
  const read = async (until: string): Promise<string> => {
    const gone = new AbortController();
    const { body } = await fetch(`${own}/api/requests`, {
      headers: { authorization: `Bearer ${token}` },
      signal: gone.signal,
    });
    let said = '';
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      said += chunk;
      if (said.includes(until)) break;
    }
    gone.abort();
    return said;
  };
  return { secrets, url, read, trustedOrigins: [`http://${grpc.address}`, url] };
}

it('no secret of a client leaves in what an inspector keeps of its requests', async () => {
  const { secrets, url, read, trustedOrigins } = await serveWatched();
  const password = secrets.plant('password');
  const credentials = {
    authorization: `Bearer ${secrets.plant('bearer token')}`,
    'x-api-key': secrets.plant('API key'),
    referer: `http://a.example/?code=${secrets.plant('referer')}`,
    'x-forwarded-access-token': secrets.plant('token of a proxy'),
    'a2a-notification-token': secrets.plant('notification token'),
    'sec-websocket-protocol': `token, ${secrets.plant('subprotocol')}`,
    cookie: `a=1; session=${secrets.plant('cookie')}`,
  };
  const config = (place: string) => ({
    url: `http://127.0.0.1:9/hook?signature=${encodeURIComponent(secrets.plant(`signed URL ${place}`))}`,
    ...(place === 'alone'
      ? {}
      : {
          token: secrets.plant(`webhook token ${place}`),
          authentication: { scheme: 'Bearer', credentials: secrets.plant(`webhook credentials ${place}`) },
        }),
  });
  const meta = { password: secrets.plant('metadata'), note: `Bearer ${secrets.plant('text')}` };
  const send = async (path: string, body: unknown, headers: object = credentials) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    secrets.arrive(sent);
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: sent,
    });
    const said = await response.text();
    secrets.arrive(said);
    return { status: response.status, said };
  };
  const message = { ...say('go'), metadata: meta };
  const first = await send('/message:send', {
    message,
    configuration: { taskPushNotificationConfig: config('of a message') },
  });
  expect(first.status, first.said).toBe(200);
  const { id } = JSON.parse(first.said).task;
  await send('/message:stream', { message: { ...message, messageId: 'm-2' } });
  await send(`/tasks/${id}/pushNotificationConfigs`, config('of a task'));
  await send('/', {
    jsonrpc: '2.0',
    id: 1,
    method: 'CreateTaskPushNotificationConfig',
    params: { taskId: id, ...config('alone') },
  });
  await send(
    '/',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          kind: 'message',
          role: 'user',
          messageId: 'm',
          parts: [{ kind: 'text', text: 'go' }],
          metadata: meta,
        },
      },
    },
    { authorization: credentials.authorization, 'a2a-version': '0.3' },
  );
  // What is no JSON may hold anything.
  await send('/', `{"password": "${secrets.plant('broken body')}`);
  secrets.arrive(password);
  await send('/tasks', {}, { authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}` });
  const key = secrets.plant('key in the query');
  await fetch(`${url}/tasks?key=${encodeURIComponent(key)}&pageSize=1`, {
    headers: { 'a2a-version': '1.0' },
  });
  await fetch(`${url}/${encodeURIComponent(key)}?key=${encodeURIComponent(key)}`);
  for (const bindings of [[grpcClient()], [webSocketClient()]]) {
    const client = await connect(url, { bindings, headers: credentials, trustedOrigins });
    await client.send({ parts: [{ text: 'go' }], metadata: meta });
    for await (const _ of client.stream('go'));
    await client.createTaskPushNotificationConfig({ taskId: id, id: 'x', ...config('alone') });
  }
  const said = await read('bindings/websocket/v1","version":"1.0"');
  secrets.leave('the requests', said);
  secrets.check();
  // The rest is there.
  for (const operation of ['SendMessage', 'SendStreamingMessage', 'CreateTaskPushNotificationConfig'])
    expect(said).toContain(`"operation":"${operation}"`);
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC']) expect(said).toContain(`"binding":"${binding}"`);
  expect(said).toContain('pageSize=1');
  expect(said).toContain('"caller":"ada"');
  expect(said).toContain('For ada');
});
