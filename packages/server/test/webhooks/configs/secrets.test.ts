import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { rpc, say } from '../../../../../test/kit/rpc.ts';
import { eventually } from '../../../../../test/kit/until.ts';
import type { SignPush } from '../../../src/webhooks/sign-push.ts';
import type { PushOptions } from '../../../src/webhooks/webhooks.ts';
import { registered } from '../kit/push-config.ts';
import { send, servePushing } from '../kit/serve-pushing.ts';
import { heard } from '../kit/settings.ts';
import { type Reaction, type Received, webhook } from '../kit/webhook.ts';

const secret = 'hunter2';
const authentication = { scheme: 'Bearer', credentials: `credentials-${secret}` };
const token = `token-${secret}`;
const hidden = (url: string) => ({ id: 'w', url: `${url}?key=${secret}`, token, authentication });

describe('neither log, dead letter nor error contains a secret [R-ERR-11] [R-PUSH-09]', () => {
  it.each<[string, (received: Received) => Reaction, PushOptions]>([
    ['refuses', () => 401, {}],
    [
      'repeats what it got',
      ({ headers }) =>
        (response) => {
          response.writeHead(500, { 'x-echo': String(headers.authorization) }).end(token);
        },
      { retry: { maxAttempts: 2 } },
    ],
    ['hangs up', () => (response) => response.destroy(), { retry: { maxAttempts: 2 } }],
    [
      'talks no HTTP',
      () => (response) => {
        response.socket?.end(`${secret} is no HTTP\r\n\r\n`);
      },
      { retry: { maxAttempts: 2 } },
    ],
    [
      'cannot be signed for',
      () => 200,
      { retry: { maxAttempts: 2 }, sign: () => Promise.reject(new Error('No key')) },
    ],
    ['is not allowed any more', () => 200, { allow: [], resolve: async () => [] }],
  ])('when the webhook %s', async (_what, react, push) => {
    const hook = await webhook(react);
    const store = memoryStore();
    const server = servePushing(store, push);
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    const config = { taskId: task.id, ...hidden(hook.url()) };
    await store.putPushConfig(registered(config));
    await eventually(async () => expect(await server.push.deadLetters()).toHaveLength(1));
    expect(server.logged()).toContain('A webhook was given up');
    for (const text of [server.logged(), inspect(await server.push.deadLetters(), { depth: 10 })])
      expect(text).not.toContain(secret);
  });

  it('when the registration is refused', async () => {
    const server = servePushing(memoryStore());
    const { task } = await rpc(server, 'SendMessage', { message: say('go') });
    const refused = rpc(server, 'CreateTaskPushNotificationConfig', {
      taskId: task.id,
      ...hidden('https://10.0.0.1/'),
      token: `${token}\n`,
    });
    const error = await refused.then(Object, (error) => error);
    expect(error).toMatchObject({ reason: 'INVALID_PARAMS' });
    expect(inspect(error, { depth: 10 }) + server.logged()).not.toContain(secret);
  });
});

describe('a signer', () => {
  /** Not a JWT: what the claims are signed with is the signer's business. */
  const sign: SignPush = ({ claims }) => {
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return {
      Authorization: `Test ${text}.${createHmac('sha256', 'stub key').update(text).digest('base64url')}`,
    };
  };
  const read = ({ headers }: Received) => {
    const [, text = '', signature] = /^Test (.*)\.(.*)$/.exec(String(headers.authorization)) ?? [];
    expect(createHmac('sha256', 'stub key').update(text).digest('base64url')).toBe(signature);
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  };

  it('gets claims about the delivery, and its headers are sent [R-PUSH-30] [R-PUSH-44]', async () => {
    const { createHash } = await import('node:crypto');
    const hook = await webhook();
    const now = Date.UTC(2026, 5, 1);
    const server = servePushing(memoryStore({ now: () => now }), { sign }, { clock: { now: () => now } });
    const { id } = await send(server, { url: hook.url() });
    await hook.until(heard.length);
    for (const received of hook.received) {
      expect(read(received)).toEqual({
        jti: received.id,
        aud: hook.url(),
        iat: now / 1_000,
        exp: now / 1_000 + 300,
        taskId: id,
        request_body_sha256: createHash('sha256').update(received.text).digest('hex'),
      });
    }
  });

  it('signs every attempt again, under the same id [R-PUSH-30]', async () => {
    const hook = await webhook((_, before) => (before === 0 ? 503 : 200));
    await send(servePushing(memoryStore(), { sign }), { url: hook.url() });
    await hook.until(heard.length);
    const [first, second] = hook.received.map(read);
    expect([second.jti, second.request_body_sha256]).toEqual([first.jti, first.request_body_sha256]);
  });

  it('does not change what a delivery always says, however it writes the name of a header [R-PUSH-30]', async () => {
    const hook = await webhook();
    const signer: SignPush = async () => ({
      'Content-Type': 'text/plain',
      'WEBHOOK-ID': 'of the signer',
      'A2A-Version': '9',
      'X-Signature': 'abc',
    });
    await send(servePushing(memoryStore(), { sign: signer }), { url: hook.url() });
    await hook.until(heard.length);
    for (const { headers } of hook.received) {
      expect(headers).toMatchObject({
        'content-type': expect.stringContaining('json'),
        'webhook-id': expect.not.stringContaining('signer'),
        'a2a-version': '1.0',
        'x-signature': 'abc',
      });
    }
  });

  it('does not take the place of the credentials of the webhook [R-PUSH-22]', async () => {
    const authorizations: boolean[] = [];
    const hook = await webhook();
    const signer: SignPush = async ({ authorized }) => {
      authorizations.push(authorized);
      return { authorization: 'Test mine', 'x-signature': 'abc' };
    };
    await send(servePushing(memoryStore(), { sign: signer }), { url: hook.url(), authentication });
    await hook.until(heard.length);
    expect(new Set(authorizations)).toEqual(new Set([true]));
    for (const { headers } of hook.received)
      expect(headers).toMatchObject({ authorization: `Bearer credentials-${secret}`, 'x-signature': 'abc' });
  });
});
