import { A2AError } from '@batonjs/protocol/errors';
import { reply } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import { say } from '../kit/rpc.ts';
import { open, type Peer, type Setting } from './peer.ts';

/** Every binding, in each version that it speaks. */
const settings: readonly Setting[] = [
  { binding: 'JSONRPC', adapter: 'Express', store: 'memory' },
  { binding: 'HTTP+JSON', adapter: 'Express', store: 'memory' },
  { binding: 'GRPC', adapter: 'its own port', store: 'memory' },
  { binding: 'WebSocket', adapter: 'Express', store: 'memory' },
  { binding: 'JSONRPC', adapter: 'Express', store: 'memory', version: '0.3' },
  { binding: 'HTTP+JSON', adapter: 'Express', store: 'memory', version: '0.3' },
  { binding: 'GRPC', adapter: 'its own port', store: 'memory', version: '0.3' },
];

/** What is wrong with a request, and its refusal, in the order in which `answerCall` checks. */
const refusals = {
  credentials: { reason: 'UNAUTHENTICATED' },
  requests: { reason: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('Too many requests') },
  version: { reason: 'VERSION_NOT_SUPPORTED' },
  messages: { reason: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('Too many messages') },
  capability: { reason: 'UNSUPPORTED_OPERATION' },
  extension: { reason: 'EXTENSION_SUPPORT_REQUIRED' },
  params: { reason: 'INVALID_PARAMS' },
  tenant: { reason: 'TASK_NOT_FOUND', message: 'There is no such tenant' },
  closing: { reason: 'UNAVAILABLE' },
};
type Wrong = keyof typeof refusals;
const wrongs = Object.keys(refusals) as Wrong[];

const required = 'https://example.com/required/v1';
const good = { authorization: 'Bearer right', 'a2a-extensions': required };
const message = () => ({ ...say('hello'), messageId: crypto.randomUUID() });

/** An agent that has a reason to refuse at every step. */
const serveStrict = (setting: Setting): Promise<Peer> =>
  open(setting, ({ text }) => reply(text), {
    authenticate: ({ headers }) =>
      headers.authorization === 'Bearer right' ? { scope: 'right' } : undefined,
    limits: {
      // One message alone leaves one request.
      callers: { requests: { limit: 2, perMs: 3_600_000 }, messages: { limit: 1, perMs: 3_600_000 } },
    },
    card: {
      name: 'Strict',
      description: 'For tests',
      tenants: ['known'],
      capabilities: { streaming: false, extensions: [{ uri: required, required: true }] },
    },
  });

/** Sends a request in which all this is wrong. */
async function refusalOf({ call, stream, server }: Peer, wrong: ReadonlySet<Wrong>): Promise<unknown> {
  if (wrong.has('messages')) await call('SendMessage', { message: message() }, good);
  // Refused, but counted; there is no list of tasks in 0.3.
  const count = () => call('GetTask', { id: 'nothing' }, good).catch(() => {});
  if (wrong.has('requests')) await count();
  if (wrong.has('requests') && !wrong.has('messages')) await count();
  const headers = {
    ...good,
    ...(wrong.has('credentials') && { authorization: 'Bearer wrong' }),
    ...(wrong.has('version') && { 'a2a-version': '9.9' }),
    ...(wrong.has('extension') && { 'a2a-extensions': 'https://example.com/another' }),
  };
  const params = {
    message: { ...message(), ...(wrong.has('params') && { parts: [] }) },
    ...(wrong.has('tenant') && { tenant: 'unknown' }),
  };
  if (wrong.has('closing')) void server.close();
  const answer = wrong.has('capability')
    ? stream('SendStreamingMessage', params, headers).next()
    : call('SendMessage', params, headers);
  return answer.then(
    () => 'no refusal',
    (error: unknown) => error,
  );
}

describe.each(settings)('over $binding, version $version', (setting) => {
  // Requests of 0.3 name no tenant. A WebSocket is closed with its server.
  const sayable = wrongs.filter(
    (wrong) =>
      !(wrong === 'tenant' && setting.version) && !(wrong === 'closing' && setting.binding === 'WebSocket'),
  );

  it.each(sayable)('%s: alone, and before all that is checked later', async (first) => {
    const later = sayable.slice(sayable.indexOf(first));
    for (const wrong of [[first], later]) {
      const refusal = await refusalOf(await serveStrict(setting), new Set(wrong));
      expect(A2AError.is(refusal), String(refusal)).toBe(true);
      expect(refusal).toMatchObject(refusals[first]);
    }
  });
});
