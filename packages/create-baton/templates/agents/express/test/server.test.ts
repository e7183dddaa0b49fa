import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { A2AError, connect } from '@batonjs/client';
import { webhookReceiver } from '@batonjs/client/webhook-receiver';
import { memoryStore } from '@batonjs/store-memory';
import { createApp, keysFrom } from '../src/app.ts';

const keys = new Map([
  ['the key of Ada', 'ada'],
  ['the key of Bob', 'bob'],
]);

async function listen(context: TestContext, listener: RequestListener): Promise<string> {
  const http = createServer(listener).listen(0, '127.0.0.1');
  context.after(() => http.close());
  await once(http, 'listening');
  return `http://localhost:${(http.address() as AddressInfo).port}`;
}

async function serve(context: TestContext): Promise<string> {
  const { app, server } = createApp({
    keys,
    webhookHosts: ['localhost:*'],
    store: memoryStore(),
    logger: () => {},
  });
  context.after(() => server.close());
  return listen(context, app);
}

const clientOf = (url: string, key: string) => connect(url, { headers: { 'X-API-Key': key } });

test('a caller without a key is refused', async (context) => {
  const agent = await connect(await serve(context));
  await assert.rejects(agent.send('3 boxes'), (error) => A2AError.is(error, 'UNAUTHENTICATED'));
});

test('a task does not exist for another caller', async (context) => {
  const url = await serve(context);
  const { task } = await (await clientOf(url, 'the key of Ada')).send('3 boxes');
  const bob = await clientOf(url, 'the key of Bob');
  await assert.rejects(bob.task(task!.id).get(), (error) => A2AError.is(error, 'TASK_NOT_FOUND'));
});

test('a webhook is told how the task goes on', async (context) => {
  let hear = () => {};
  const heard = new Promise<void>((resolve) => {
    hear = resolve;
  });
  const receiver = webhookReceiver({
    token: 'a token of the test',
    expects: () => true,
    onEvent({ statusUpdate }) {
      if (statusUpdate && statusUpdate.status.state !== 'TASK_STATE_WORKING') hear();
    },
  });
  const hook = await listen(context, (request, response) => void receiver.handle(request, response));
  const agent = await clientOf(await serve(context), 'the key of Ada');
  await agent.send('3 boxes', {
    configuration: { taskPushNotificationConfig: { url: `${hook}/hook`, token: 'a token of the test' } },
  });
  await heard;
});

test('keys are checked when they are read', () => {
  assert.deepEqual(keysFrom('ada:0123456789abcdef'), new Map([['0123456789abcdef', 'ada']]));
  assert.throws(() => keysFrom('ada:short'), /API_KEYS/);
  assert.throws(() => keysFrom(''), /API_KEYS is not set/);
});
