import { createHash } from 'node:crypto';
import type { AgentServerOptions } from '@batonjs/server';
import { describe, expect, it } from 'vitest';
import {
  publicKeys,
  type ReceivedPush,
  signPush,
  type VerifyPushOptions,
  verifyPush,
} from '../../src/index.ts';
import { newKey, serveKeys } from '../keys/sample-keys.ts';

type SignPush = NonNullable<Exclude<AgentServerOptions['push'], false | undefined>['sign']>;

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

  it.each<[string, () => Promise<ReceivedPush>, string | RegExp, string?]>([
    ['is not signed', async () => received({}), 'The delivery is not signed'],
    [
      'has other credentials',
      async () => received({ authorization: 'Basic YTpi' }),
      'The delivery is not signed',
    ],
    [
      'has the token after something else',
      async () => received({ authorization: `x${(await sign(delivery())).authorization}` }),
      'The delivery is not signed',
    ],
    [
      'has something after the token',
      async () => received({ authorization: `${(await sign(delivery())).authorization} x` }),
      'The delivery is not signed',
    ],
    [
      'has another body',
      async () => received(await sign(delivery()), `${body} `),
      'The signature is that of another body',
    ],
    [
      'is by another key',
      async () => received(await signPush({ key: newKey('k-1'), issuer })(delivery())),
      'signature verification failed',
      'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    ],
    [
      'is by an unknown key',
      async () => received(await signPush({ key: newKey('k-2'), issuer })(delivery())),
      /./,
      'ERR_JWKS_NO_MATCHING_KEY',
    ],
    ['is no JWT', async () => received({ authorization: 'Bearer x' }), /./, 'ERR_JWS_INVALID'],
  ])('that %s is refused with the reason', async (_, make, message, code) => {
    const error = await verifier()(await make()).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ ...(code && { code }) });
    expect((error as Error).message).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });

  it('is read after any number of spaces', async () => {
    const jwt = (await sign(delivery())).authorization!.replace('Bearer ', 'bearer    ');
    expect(await verifier()(received({ authorization: jwt }))).toMatchObject({ jti: 'd-1' });
  });

  it('may be of several issuers, for several audiences', async () => {
    const verify = verifier({ issuer: ['x', issuer], audience: ['y', audience] });
    expect(await verify(received(await sign(delivery())))).toMatchObject({ jti: 'd-1' });
    const stranger = signPush({ key, issuer: 'z' });
    await expect(verify(received(await stranger(delivery())))).rejects.toThrow(/iss/);
    await expect(verify(received(await sign(delivery({ aud: 'z' }))))).rejects.toThrow(/aud/);
  });

  it('may be signed at a time that differs as much as is allowed', async () => {
    const late = { now: () => start + 302_000 };
    const headers = await sign(delivery());
    await expect(verifier(late)(received(headers))).resolves.toBeDefined();
    await expect(verifier({ ...late, clockToleranceSeconds: 1 })(received(headers))).rejects.toThrow(/exp/);
    await expect(
      verifier({ now: () => start + 360_000, clockToleranceSeconds: 120 })(received(headers)),
    ).resolves.toBeDefined();
  });

  it('has a header that says what it is', async () => {
    const { authorization } = await sign(delivery());
    const header = Buffer.from(authorization!.replace('Bearer ', '').split('.')[0]!, 'base64url').toString();
    expect(JSON.parse(header)).toEqual({ alg: 'ES256', kid: 'k-1', typ: 'JWT' });
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
    await expect(verify(received(await sign(delivery())))).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'The signature cannot be checked',
      cause: expect.objectContaining({ message: 'The keys were answered with 500 and no key set' }),
    });
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
});
