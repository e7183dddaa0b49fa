import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { v03 } from '@batonjs/bindings-v0-3';
import { inspector } from '@batonjs/inspector';
import { type Agent, completed, inputRequired, working } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { StoreError, type TaskStore } from '@batonjs/store';
import { sqliteStore } from '@batonjs/store-sqlite';
import { telemetry } from '@batonjs/telemetry';
import { expect, it, onTestFinished } from 'vitest';
import { webhook } from '../../packages/server/test/webhooks/kit/webhook.ts';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { change } from '../kit/faulty-store.ts';
import { listen } from '../kit/listen.ts';
import { rpc, say, stream } from '../kit/rpc.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { eventually, until } from '../kit/until.ts';

const immediately = { returnImmediately: true };

it('the URL of a callback or of a link to a question, and the secret in it, stand in no log, span, metric, answer, webhook, page or file', async () => {
  const left = new Map<string, string>();
  const leave = (where: string, what: unknown) => {
    const text = typeof what === 'string' ? what : JSON.stringify(what, membersOf);
    left.set(where, `${left.get(where) ?? ''}\n${text}`);
  };
  const { providers, spans, metrics } = observed();
  const folder = temporaryFolder();
  const hook = await webhook();
  const urls: string[] = [];
  const agent: Agent = async function* ({ callback, callbacks, idempotencyKey, caller }) {
    if (caller.answeredBy) return yield completed('Paid');
    if (callbacks.callback) {
      urls.push((await callback({ expiresMs: 60_000, answeredBy: 'Ana' })).url);
      return yield inputRequired('Sure?');
    }
    yield working('Wait');
    urls.push((await callback({ expiresMs: 60_000 })).url);
    urls.push(`http://localhost/${await idempotencyKey('charge')}`);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const failing = { is: false };
  const store: TaskStore = change(closedAfterTest(sqliteStore(join(folder, 'tasks.db'))), {
    load: (load) => (scope, taskId) => {
      if (failing.is) throw new StoreError('UNAVAILABLE', 'Away');
      return load(scope, taskId);
    },
  });
  const server = serve(agent, {
    store,
    publicUrl: 'http://localhost/agent',
    callbacks: { rate: { limit: 1_000, perMs: 1_000 } },
    telemetry: telemetry(providers),
    compatibility: [v03()],
    push: { allow: ['127.0.0.1'], updates: 'all' },
    logger: (...line) => leave('the log', line),
  });
  const taskPushNotificationConfig = { url: hook.url() };
  const configuration = { ...immediately, taskPushNotificationConfig };
  const { task } = await rpc(server, 'SendMessage', { message: say('go'), configuration });
  await eventually(() => expect(urls).toHaveLength(2));
  const [url = ''] = urls;
  const path = new URL(url).pathname;

  const origin = await listen(nodeHandler(server, { path: '/agent' }));
  const wrong = await listen(nodeHandler(server, { path: '/elsewhere' }));
  const ask = async (address: string, init: RequestInit = {}) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(address, { method: 'POST', headers, ...init });
    leave('an answer', [response.status, Object.fromEntries(response.headers), await response.text()]);
    return response.status;
  };
  await ask(`${origin}${path}`, { method: 'GET' });
  await ask(`${origin}${path}`, { body: '{' });
  await ask(`${origin}${path}`, { body: JSON.stringify('x'.repeat(70_000)) });
  await ask(`${origin}${path}x`, { body: '1' });
  await ask(`${origin}${path}/more`, { body: '1' });
  await ask(`${wrong}${path}`, { body: '1' });
  await ask(`${wrong}/elsewhere${path}/x`, { body: '1' });
  failing.is = true;
  await ask(`${origin}${path}`, { body: '1' });
  failing.is = false;
  expect(await ask(`${origin}${path}`, { body: '1' })).toBe(202);
  expect(await ask(`${origin}${path}`, { body: '2' })).toBe(409);

  await until(server, task.id, 'INPUT_REQUIRED');
  const link = `${origin}${new URL(urls[2] ?? '').pathname}`;
  const accept = 'text/html';
  const form = { accept, 'content-type': 'application/x-www-form-urlencoded' };
  const page = await (await fetch(link, { headers: { accept } })).text();
  leave('a page', page);
  const body = `question=${/name="question" value="([^"]*)"/.exec(page)?.[1]}&text=`;
  expect(await ask(`${link}x`, { method: 'GET', headers: { accept } })).toBe(404);
  expect(await ask(link, { headers: form, body })).toBe(422);
  failing.is = true;
  await ask(link, { method: 'GET', headers: { accept } });
  failing.is = false;
  expect(await ask(link, { headers: form, body: `${body}Yes` })).toBe(200);
  leave('a task', await until(server, task.id, 'COMPLETED'));
  leave('a list', await rpc(server, 'ListTasks', { includeArtifacts: true }));
  const events: unknown[] = [];
  for await (const event of stream(server, 'SendStreamingMessage', { message: say('go'), configuration })) {
    events.push(event);
    if (events.length === 2) break;
  }
  leave('a stream', events);
  const pages = inspector({ agents: [{ name: 'agent', server }], token: 'token of the page', allow: [] });
  onTestFinished(() => pages.close());
  const inspect = await listen(createServer(pages));
  const access = { headers: { authorization: 'Bearer token of the page' } };
  for (const page of ['tasks', `tasks/${task.id}`])
    leave('a page', await (await fetch(`${inspect}/api/agents/agent/${page}`, access)).text());
  const timeline = await fetch(`${inspect}/api/agents/agent/tasks/${task.id}/timeline`, access);
  let shown = '';
  for await (const chunk of timeline.body!.pipeThrough(new TextDecoderStream())) {
    shown += chunk;
    if (shown.includes('callback-received')) break;
  }
  leave('a page', shown);
  await eventually(() => expect(hook.acknowledged).toContain('COMPLETED'));
  leave('a webhook', hook.received);
  leave(
    'a span',
    spans().map(({ name, attributes, events: of, status }) => [name, attributes, of, status]),
  );
  leave('a metric', await metrics());
  leave('the card', server.card);
  for (const file of readdirSync(folder)) leave('a file', readFileSync(join(folder, file), 'latin1'));

  // It looked where it should have.
  for (const where of ['a task', 'a list', 'a webhook', 'a page', 'a file'])
    expect([where, left.get(where)]).toEqual([where, expect.stringContaining(task.id)]);
  expect(left.get('the log')).toContain('The store is not available');
  const secret = String(JSON.parse(Buffer.from(path.split('/').at(-1) ?? '', 'base64url').toString()).at(-1));
  const secrets = [secret, ...urls.map((each) => each.split('/').at(-1) ?? '')];
  for (const [where, text] of left)
    for (const each of secrets) expect([where, text.includes(each)]).toEqual([where, false]);
});

/** Of errors too. */
const membersOf = (_: string, value: unknown): unknown =>
  value instanceof Error ? { ...value, text: value.message, stack: value.stack, cause: value.cause } : value;
