import { createHash } from 'node:crypto';
import type { SignPush } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import {
  publicKeys,
  type ReceivedPush,
  signPush,
  type VerifyPushOptions,
  verifyPush,
} from '../../src/index.ts';
import { newKey, serveKeys } from '../keys/sample-keys.ts';

const issuer = 'https://agent.example';
const audience = 'https://client.example/hook';
const key = newKey('k-1');
const start = Date.UTC(2026, 0, 1);
const body = '{"statusUpdate":{"taskId":"t-1"}}';

const delivery = (
  more: Partial<Parameters<SignPush>[0]['claims']> = {},
  authorized = false,
): Parameters<SignPush>[0] => ({
  claims: {
    jti: 'd-1',
    aud: audience,
    iat: start / 1_000,
    exp: start / 1_000 + 300,
    taskId: 't-1',
    request_body_sha256: createHash('sha256').update(body).digest('hex'),
    ...more,
  },
  body,
  authorized,
});

const received = (headers: Readonly<Record<string, string>>, text = body): ReceivedPush => ({
  headers: new Headers({ 'webhook-id': 'd-1', ...headers }),
  body: text,
});

const sign: SignPush = signPush({ key, issuer });
const verifier = (more: Partial<VerifyPushOptions> = {}) =>
  verifyPush({ issuer, audience, jwks: publicKeys([key]).keys, now: () => start + 1_000, ...more });

describe('a signed delivery', () => {
  it('says who sent what, where, when and about which task [R-PUSH-30] [R-PUSH-44]', async () => {
    const headers = await sign(delivery());
    expect(Object.keys(headers)).toEqual(['authorization']);
    expect(await verifier()(received(headers))).toEqual({ ...delivery().claims, iss: issuer });
  });

  it('leaves `Authorization` to the webhook’s own credentials [R-PUSH-22]', async () => {
    const headers = await sign(delivery({}, true));
    expect(Object.keys(headers)).toEqual(['x-a2a-notification-jwt']);
    const arrived = received({ ...headers, authorization: 'Bearer its-own' });
    expect(await verifier()(arrived)).toMatchObject({ jti: 'd-1' });
  });

  it.each<[string, () => Promise<ReceivedPush>, Partial<VerifyPushOptions>?]>([
    ['is not signed', async () => received({})],
    ['has other credentials', async () => received({ authorization: 'Basic YTpi' })],
    ['has another body', async () => received(await sign(delivery()), body.replace('t-1', 't-2'))],
    ['is old', async () => received(await sign(delivery())), { now: () => start + 306_000 }],
    ['comes from the future', async () => received(await sign(delivery({ iat: start + 1 })))],
    ['is for another webhook', async () => received(await sign(delivery({ aud: 'https://other.example' })))],
    [
      'is by another agent',
      async () => received(await signPush({ key, issuer: 'https://other.example' })(delivery())),
    ],
    ['is by another key', async () => received(await signPush({ key: newKey('k-1'), issuer })(delivery()))],
    ['has no id', async () => received(await sign(delivery({ jti: undefined as never })))],
    ['names no task', async () => received(await sign(delivery({ taskId: undefined as never })))],
  ])('that %s is refused [R-PUSH-42]', async (_, make, options) => {
    await expect(verifier(options)(await make())).rejects.toThrow();
  });

  it('that came before is refused under another id, and for another task [R-PUSH-30] [R-PUSH-42]', async () => {
    const headers = await sign(delivery());
    await expect(verifier()(received({ ...headers, 'webhook-id': 'd-2' }))).rejects.toThrow(
      /another delivery/,
    );
    const { headers: all } = received(headers);
    await expect(verifier()({ headers: all, body, taskId: 't-2' })).rejects.toThrow(/another task/);
    await expect(verifier()({ headers: all, body, taskId: 't-1' })).resolves.toBeDefined();
  });

  it('cannot be verified while the keys cannot be fetched', async () => {
    const server = await serveKeys(key);
    server.trouble = 500;
    const verify = verifier({ jwks: server.url });
    await expect(verify(received(await sign(delivery())))).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });

  it('is verified with the keys that the agent publishes, also new ones [R-PUSH-44]', async () => {
    const server = await serveKeys(key);
    const verify = verifier({ jwks: server.url, caching: { cooldownMs: 0 } });
    await verify(received(await sign(delivery())));
    const next = newKey('k-2');
    server.keys = [key, next];
    await verify(received(await signPush({ key: next, issuer })(delivery())));
    expect(server.asked).toBe(2);
  });

  it('needs a private key with a name', () => {
    expect(() => signPush({ key: publicKeys([key]).keys[0]!, issuer })).toThrow(TypeError);
    expect(() => signPush({ key: { ...key, kid: undefined }, issuer })).toThrow(TypeError);
  });
});

describe('jwksHandler', () => {
  it('publishes the public halves for everybody, for a while', async () => {
    const { url } = await serveKeys(key);
    const response = await fetch(url);
    expect(await response.json()).toEqual(publicKeys([key]));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
    expect(await (await fetch(url, { method: 'HEAD' })).text()).toBe('');
  });

  it('does nothing else', async () => {
    const { url } = await serveKeys(key);
    const response = await fetch(url, { method: 'POST', body: '{}' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  });
});
