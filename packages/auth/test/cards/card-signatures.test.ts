import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { AgentCard } from '@batonjs/protocol';
import { FlattenedSign, importJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { cardPayload } from '../../src/cards/card-payload.ts';
import { type CardTrust, publicKeys, signCard, verifyCard } from '../../src/index.ts';
import { newKey } from '../keys/sample-keys.ts';
import { fullCard } from './sample-cards.ts';

const key = newKey('k-1');
const trust: CardTrust = { keys: publicKeys([key]).keys };
const signed = await signCard(fullCard, key);
const [signature] = signed.signatures!;
const headerOf = ({ protected: header = '' } = signature!) =>
  JSON.parse(Buffer.from(header, 'base64url').toString());

/** Signs with any header, as an attacker might. */
async function forge(card: AgentCard, header: Record<string, unknown>, by: JWK = key): Promise<AgentCard> {
  const alg = String(header.alg);
  const jws = await new FlattenedSign(new TextEncoder().encode(cardPayload(card).spec))
    .setProtectedHeader({ ...header, alg })
    .sign(await importJWK(by, alg));
  return { ...card, signatures: [{ protected: jws.protected!, signature: jws.signature }] };
}

describe('signCard', () => {
  it('adds a detached JWS over the canonical card [R-SIG-05] [R-SIG-06]', () => {
    expect(signed).toEqual({ ...fullCard, signatures: [signature] });
    expect(Object.keys(signature!)).toEqual(['protected', 'signature']);
    expect(headerOf()).toEqual({ alg: 'ES256', kid: 'k-1', typ: 'JOSE' });
    const input = `${signature!.protected}.${Buffer.from(cardPayload(fullCard).spec).toString('base64url')}`;
    const publicKey = createPublicKey({ key: { ...key } as never, format: 'jwk' });
    const bytes = Buffer.from(signature!.signature, 'base64url');
    expect(verify('sha256', Buffer.from(input), { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)).toBe(
      true,
    );
  });

  it('signs as in this vector, made with a key of RFC 8037 [R-SIG-02] [R-SIG-06]', async () => {
    const rfc8037: JWK = {
      kty: 'OKP',
      crv: 'Ed25519',
      d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
      x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      kid: 'rfc8037',
    };
    const { signatures } = await signCard(fullCard, rfc8037, { jku: 'https://ledger.example/jwks.json' });
    expect(signatures).toEqual([
      {
        protected:
          'eyJhbGciOiJFZERTQSIsImtpZCI6InJmYzgwMzciLCJ0eXAiOiJKT1NFIiwiamt1IjoiaHR0cHM6Ly9sZWRnZXIuZXhhbXBsZS9qd2tzLmpzb24ifQ',
        signature: 'XvmXDfuNqHWLnGCGp_doTpjLygs2HeeC24xZ050VuISJW2n_3hkESBuzY9tml2JtAgamI1fVSPZrGSIwrm8aAA',
      },
    ]);
    await expect(verifyCard({ ...fullCard, signatures }, { keys: [rfc8037] })).resolves.toMatchObject({
      kid: 'rfc8037',
    });
  });

  it.each(['P-256', 'P-384', 'Ed25519', 'RSA'] as const)('signs with %s [R-SIG-08]', async (curve) => {
    const other = newKey('other', curve);
    const card = await signCard(fullCard, other);
    await expect(verifyCard(card, { keys: [other] })).resolves.toMatchObject({ kid: 'other' });
  });

  it('keeps the signatures of other keys and replaces its own [R-SIG-07]', async () => {
    const next = newKey('k-2');
    const both = await signCard(await signCard(signed, next), key);
    expect(both.signatures?.map((one) => headerOf(one).kid)).toEqual(['k-2', 'k-1']);
    for (const [keys, kid] of [
      [[key], 'k-1'],
      [[next], 'k-2'],
    ] as const)
      await expect(verifyCard(both, { keys })).resolves.toMatchObject({ kid });
  });

  it('signs what a client will read, not what JSON drops', async () => {
    const card = await signCard({ ...fullCard, provider: undefined, iconUrl: undefined }, key);
    await expect(verifyCard(JSON.parse(JSON.stringify(card)), trust)).resolves.toBeDefined();
  });

  it.each([
    ['without a name', { ...key, kid: undefined }],
    ['without its private half', publicKeys([key]).keys[0]!],
    ['that others know too', { kty: 'oct', k: 'c2VjcmV0', kid: 'k', alg: 'HS256' }],
    ['without an algorithm', { ...newKey('rsa', 'RSA'), alg: undefined }],
  ])('does not sign with a key %s [R-SIG-08]', async (_, wrong) => {
    await expect(signCard(fullCard, wrong)).rejects.toThrow(TypeError);
  });
});

describe('verifyCard', () => {
  it('says whose card it is [R-SIG-01] [R-SIG-07]', async () => {
    expect(await verifyCard(signed, trust)).toEqual({ card: signed, kid: 'k-1', unauthenticated: [] });
  });

  it.each<[string, (card: AgentCard) => void]>([
    [
      'another URL',
      (card) => {
        card.supportedInterfaces[0]!.url = 'https://evil.example';
      },
    ],
    ['a tenant less', (card) => void delete card.supportedInterfaces[0]!.tenant],
    ['interfaces in another order', (card) => void card.supportedInterfaces.reverse()],
    ['a security scheme less', (card) => void delete card.securitySchemes!.key],
    [
      'a security scheme more',
      (card) => {
        card.securitySchemes!.more = { mtlsSecurityScheme: {} };
      },
    ],
    ['no security requirements', (card) => void delete card.securityRequirements],
    [
      'a weaker requirement',
      (card) => {
        card.securityRequirements![0]!.schemes!.oauth = { list: [] };
      },
    ],
    [
      'another token URL',
      (card) => {
        const { oauth2SecurityScheme } = card.securitySchemes!.oauth as { oauth2SecurityScheme: never };
        (
          oauth2SecurityScheme as { flows: { authorizationCode: { tokenUrl: string } } }
        ).flows.authorizationCode.tokenUrl = 'https://evil.example';
      },
    ],
    ['no requirement of a skill', (card) => void delete card.skills[0]!.securityRequirements],
    [
      'another name',
      (card) => {
        card.name += ' ';
      },
    ],
    [
      'an extension no longer required',
      (card) => {
        card.capabilities.extensions![0]!.required = false;
      },
    ],
    [
      'other parameters',
      (card) => {
        card.capabilities.extensions![0]!.params!.limit = 2;
      },
    ],
    [
      'push notifications',
      (card) => {
        card.capabilities.pushNotifications = true;
      },
    ],
    [
      'an explicit false',
      (card) => {
        card.capabilities.extendedAgentCard = false;
      },
    ],
    ['another skill', (card) => void card.skills.push({ id: 'x', name: 'x', description: 'x', tags: ['x'] })],
  ])('refuses a card with %s than was signed [R-SIG-02] [R-SIG-07]', async (_, tamper) => {
    const card = structuredClone(signed);
    tamper(card);
    await expect(verifyCard(card, trust)).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
  });

  it('does not mind what means the same [R-SIG-03]', async () => {
    const card = structuredClone(signed);
    card.supportedInterfaces[1]!.tenant = '';
    card.capabilities.extensions![1]!.required = false;
    card.skills[0]!.inputModes = [];
    await expect(verifyCard(card, trust)).resolves.toMatchObject({ unauthenticated: [] });
  });

  it('lists the members that no signature covers [R-SIG-09]', async () => {
    const card = { ...signed, url: 'https://evil.example', skills: [{ ...signed.skills[0]!, price: 0 }] };
    expect(await verifyCard(card, trust)).toMatchObject({ unauthenticated: ['url', 'skills[0].price'] });
  });

  it.each([undefined, [], 'yes', {}])(
    'refuses a card whose signatures are %j [R-SIG-01]',
    async (signatures) => {
      await expect(verifyCard({ ...fullCard, signatures } as never, trust)).rejects.toMatchObject({
        code: 'UNSIGNED',
      });
    },
  );

  it.each<[string, Record<string, unknown>]>([
    ['none', { alg: 'none', kid: 'k-1' }],
    ['a secret', { alg: 'HS256', kid: 'k-1' }],
    ['no algorithm', { kid: 'k-1' }],
    ['no key', { alg: 'ES256' }],
    ['a key that is no name', { alg: 'ES256', kid: 7 }],
    ['a critical member', { alg: 'ES256', kid: 'k-1', crit: ['b64'], b64: true }],
    ['another algorithm than the key', { alg: 'RS256', kid: 'k-1' }],
  ])('refuses a signature that names %s [R-SIG-08]', async (_, header) => {
    const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
    const card = { ...signed, signatures: [{ ...signature!, protected: encoded }] };
    await expect(verifyCard(card, trust)).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_SIGNATURE|UNTRUSTED_KEY/),
    });
  });

  it.each<[string, object]>([
    ['a critical member', { crit: ['exp'], exp: 1 }],
    ['a payload that is not encoded', { b64: false }],
    ['a payload that is encoded', { b64: true }],
    ['the encoding as critical', { crit: ['b64'], b64: true }],
    ['nothing as critical', { crit: [] }],
  ])('refuses a genuine signature that asks for %s [R-SIG-06]', async (_, members) => {
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'k-1', ...members })).toString(
      'base64url',
    );
    const payload = Buffer.from(cardPayload(fullCard).spec).toString('base64url');
    const made = sign('sha256', Buffer.from(`${header}.${payload}`), {
      key: createPrivateKey({ key: key as never, format: 'jwk' }),
      dsaEncoding: 'ieee-p1363',
    });
    const signatures = [{ protected: header, signature: made.toString('base64url') }];
    await expect(verifyCard({ ...fullCard, signatures }, trust)).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
      message: 'A signature asks for more than the protocol knows',
    });
  });

  it('never takes a public key for a secret [R-SIG-08]', async () => {
    const secret: JWK = { kty: 'oct', k: Buffer.from(key.x!).toString('base64url'), kid: 'k-1' };
    const card = await forge(fullCard, { alg: 'HS256', kid: 'k-1' }, secret);
    await expect(verifyCard(card, trust)).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
    await expect(verifyCard(card, { keys: [secret] })).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
  });

  it.each([
    ['nothing at all', {}],
    ['no header', { signature: 'x' }],
    ['a header that is no JSON', { protected: 'e30x', signature: 'x' }],
    ['an empty signature', { ...signature!, signature: '' }],
    ['half a signature', { ...signature!, signature: signature!.signature.slice(0, 40) }],
    ['a number', { ...signature!, signature: 5 }],
  ])('refuses a signature that is %s', async (_, broken) => {
    const card = { ...signed, signatures: [broken] } as AgentCard;
    await expect(verifyCard(card, trust)).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
  });

  it('reads the protected header only', async () => {
    const { kid, ...header } = headerOf();
    const anonymous = await forge(fullCard, header);
    const card = { ...fullCard, signatures: [{ ...anonymous.signatures![0]!, header: { kid } }] };
    await expect(verifyCard(card, trust)).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
  });

  it('is content with one signature of several, wherever it stands [R-SIG-07]', async () => {
    const stranger = await signCard(fullCard, newKey('stranger'));
    for (const signatures of [
      [...stranger.signatures!, signature!],
      [signature!, ...stranger.signatures!],
      [{ ...signature!, signature: 'AAAA' }, signature!],
    ])
      await expect(verifyCard({ ...fullCard, signatures }, trust)).resolves.toMatchObject({ kid: 'k-1' });
  });

  it('reads at most sixteen signatures', async () => {
    const signatures = [
      ...Array.from({ length: 16 }, () => ({ ...signature!, signature: 'AAAA' })),
      signature!,
    ];
    await expect(verifyCard({ ...fullCard, signatures }, trust)).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
    });
  });

  it('refuses a card that has no canonical form', async () => {
    await expect(verifyCard({ ...signed, name: '\ud800' }, trust)).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
    });
  });
});
