import { createServer } from 'node:http';
import { connect } from '@batonjs/client';
import { type AgentServer, completed, inputRequired, working } from '@batonjs/server';
import { insideOf } from '@batonjs/server/internals';
import { nodeHandler } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../../test/kit/listen.ts';
import { say } from '../../../../test/kit/rpc.ts';
import { serve } from '../../../../test/kit/serve.ts';
import { eventually } from '../../../../test/kit/until.ts';
import type { ClientExchange } from '../../src/api/wire.ts';
import { ClientRequests } from '../../src/clients/client-requests.ts';
import { inspector } from '../../src/index.ts';
import type { ClientRequestsOptions, InspectorOptions } from '../../src/options.ts';

/** An agent over HTTP. `hold` waits until it is released. */
async function served() {
  const gate = Promise.withResolvers<void>();
  const server = serve(
    async function* ({ text }) {
      yield working('At it');
      if (text === 'ask') return yield inputRequired('Well?');
      if (text === 'hold') await gate.promise;
      yield completed('Done');
    },
    { authenticate: ({ headers }) => ({ scope: headers['x-caller'] ?? 'nobody' }), name: 'one' },
  );
  const url = await listen(nodeHandler(server));
  const send = async (text: string, headers: Record<string, string> = {}, path = '/message:send') => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body: JSON.stringify({ message: say(text) }),
    });
    return response;
  };
  return { server, url, send, gate };
}

function watch(server: AgentServer, options: ClientRequestsOptions = {}) {
  const requests = new ClientRequests(options, [{ id: 'one', server, url: 'http://one.example' }]);
  onTestFinished(() => requests.close());
  return requests;
}

const shown = ({ operation, binding, version, caller, status, isError }: ClientExchange) => ({
  operation,
  binding,
  version,
  caller,
  status,
  isError,
});

it('has each request of any client, with its binding, version, operation, caller, status and time', async () => {
  const { server, url, send } = await served();
  const { log } = watch(server);
  await send('go', { 'x-caller': 'ada' });
  await (await connect(url, { headers: { 'x-caller': 'bob' } })).send('go');
  await (await send('go', { 'a2a-version': '9.9' })).text();
  await (await fetch(`${url}/nowhere`, { headers: { 'a2a-version': '1.0' } })).text();
  const one = { version: '1.0', status: '200', isError: false };
  expect(log.exchanges.map(shown)).toEqual([
    { ...one, operation: 'SendMessage', binding: 'HTTP+JSON', caller: 'ada' },
    { ...one, operation: 'agent card', binding: undefined, version: undefined, caller: undefined },
    { ...one, operation: 'SendMessage', binding: 'JSONRPC', caller: 'bob' },
    {
      ...one,
      operation: 'SendMessage',
      binding: 'HTTP+JSON',
      version: '9.9',
      caller: 'nobody',
      status: '400',
      isError: true,
    },
    {
      ...one,
      operation: 'GET /nowhere',
      binding: 'HTTP+JSON',
      version: '1.0',
      caller: 'nobody',
      status: '404',
      isError: true,
    },
  ]);
  for (const { agent, endMs, firstMs, number } of log.exchanges) {
    expect(agent).toBe('one');
    expect(endMs, String(number)).toBeGreaterThanOrEqual(firstMs!);
  }
  const [first] = log.exchanges;
  expect(JSON.parse(first!.requestBody!).message.parts).toEqual([{ text: 'go' }]);
  expect(JSON.parse(first!.responseBody).task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(first!.shell).toContain(`-H 'x-caller: '"$X_CALLER"`);
});

it('shows a stream while it is open, and that its reader left', async () => {
  const { server, send, gate } = await served();
  const { log } = watch(server);
  const response = await send('hold', {}, '/message:stream');
  await eventually(() => expect(log.exchanges[0]!.responseBody).toContain('At it'));
  expect(log.exchanges[0]).toMatchObject({ operation: 'SendStreamingMessage', status: '200' });
  expect(log.exchanges[0]!.endMs).toBeUndefined();
  await response.body!.cancel();
  await eventually(() => expect(log.exchanges[0]!.endMs).toBeGreaterThan(0));
  expect(log.exchanges[0]!.responseBody).not.toContain('Done');
  gate.resolve();
});

it('ends an open stream when its server closes, and keeps what it saw', async () => {
  const { server, send } = await served();
  const { log } = watch(server);
  const response = await send('hold', {}, '/message:stream');
  await eventually(() => expect(log.exchanges[0]!.responseBody).toContain('At it'));
  await server.close({ graceMs: 0 });
  await response.text().catch(() => {});
  await eventually(() => expect(log.exchanges[0]!.endMs).toBeGreaterThan(0));
});

it('keeps the last requests, and no more than its bytes', async () => {
  const { server, send } = await served();
  const three = watch(server, { last: 3 });
  const small = watch(server, { bytes: 8_000 });
  for (let count = 0; count < 5; count += 1) await (await send('x'.repeat(500))).text();
  expect(three.log.exchanges.map(({ number }) => number)).toEqual([3, 4, 5]);
  const kept = small.log.exchanges.length;
  expect(kept).toBeGreaterThan(0);
  expect(kept).toBeLessThan(5);
  expect(JSON.stringify(small.log.exchanges).length).toBeLessThan(8_000);
  // The latest is kept, however long it is, and each body is cut.
  await (await send('y'.repeat(100_000))).text();
  expect(small.log.exchanges.map(({ isCut, requestBody }) => [isCut, requestBody!.length])).toEqual([
    [true, 65_536],
  ]);
});

it('makes nothing for a request unless someone looks, and lets two look until each leaves', async () => {
  const { server, send } = await served();
  const { watch: slot } = insideOf(server)!;
  expect(slot.isOn).toBe(false);
  const [one, other] = [watch(server), watch(server)];
  await (await send('go')).text();
  one.close();
  const held = await send('hold', {}, '/message:stream');
  expect(one.log.exchanges).toEqual([]);
  expect(other.log.exchanges.length).toBe(2);
  other.close();
  expect(slot.isOn).toBe(false);
  // A request that began before is answered as any other.
  await held.body!.cancel();
  expect(other.log.exchanges).toEqual([]);
});

/** An inspector of a served agent, and what its API answers. */
async function inspected(options: Partial<InspectorOptions>) {
  const { server, send } = await served();
  const handler = inspector({ server, token: 'a-token-for-the-tests', ...options });
  onTestFinished(() => handler.close());
  const own = await listen(createServer(handler));
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const get = (path: string) =>
    fetch(`${own}/api${path}`, {
      headers: { authorization: 'Bearer a-token-for-the-tests' },
      signal: leaving.signal,
    });
  return { server, send, get, handler };
}

it('shows them only if they are kept and the viewer may see them', async () => {
  const off = await inspected({ allow: ['read-requests'] });
  expect((await off.get('/requests')).status).toBe(404);
  expect((await (await off.get('/session')).json()).may).toEqual([]);
  expect(insideOf(off.server)!.watch.isOn).toBe(false);
  const forbidden = await inspected({ clientRequests: true });
  expect((await forbidden.get('/requests')).status).toBe(403);
  const open = await inspected({ clientRequests: { last: 10 }, allow: ['read-requests'] });
  expect((await (await open.get('/session')).json()).may).toEqual(['read-requests']);
  await (await open.send('go')).text();
  const { body } = await open.get('/requests');
  let text = '';
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('SendMessage')) break;
  }
  const [first, second] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(first).toMatchObject({ type: 'open', pid: process.pid, exchanges: 10, bytes: 16_777_216 });
  expect(second).toMatchObject({ type: 'exchanges', exchanges: [{ number: 1, operation: 'SendMessage' }] });
  open.handler.close();
  expect(insideOf(open.server)!.watch.isOn).toBe(false);
});
