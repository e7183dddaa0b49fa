import type { AgentCard, AgentCardSignature } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { CardSignatureError, type CardTrust, publicKeys, signCard, verifyCard } from '../../src/index.ts';
import { newKey, serveKeys } from '../keys/sample-keys.ts';
import { bareCard, fullCard } from './sample-cards.ts';

const key = newKey('k-1');
const trust: CardTrust = { keys: publicKeys([key]).keys };
const signed = await signCard(fullCard, key);
const [signature] = signed.signatures!;

const encode = (header: unknown) => Buffer.from(JSON.stringify(header)).toString('base64url');
const by = (header: unknown): Partial<AgentCardSignature> => ({ ...signature!, protected: encode(header) });

/** The error with which a card is refused. */
async function refusal(card: unknown, of: CardTrust = trust): Promise<CardSignatureError> {
  const outcome = await verifyCard(card as AgentCard, of).then(
    () => new Error('Not refused'),
    (error: unknown) => error,
  );
  if (CardSignatureError.is(outcome)) return outcome;
  throw outcome;
}

describe('a card that is refused', () => {
  it.each<[string, unknown, string, string]>([
    ['nothing', undefined, 'UNSIGNED', 'The card is not signed'],
    ['a signature without a header', [{ signature: 'x' }], 'INVALID_SIGNATURE', 'A signature is incomplete'],
    ['a header alone', [{ protected: encode({}) }], 'INVALID_SIGNATURE', 'A signature is incomplete'],
    [
      'a header that is no JSON',
      [{ protected: 'e30x', signature: 'x' }],
      'INVALID_SIGNATURE',
      'A signature has no readable header',
    ],
    [
      'no algorithm',
      [by({ kid: 'k-1' })],
      'INVALID_SIGNATURE',
      'A signature must not use the algorithm undefined',
    ],
    [
      'an algorithm in a list',
      [by({ alg: ['ES256'], kid: 'k-1' })],
      'INVALID_SIGNATURE',
      'A signature must not use the algorithm ES256',
    ],
    [
      'a shared secret',
      [by({ alg: 'HS256', kid: 'k-1' })],
      'INVALID_SIGNATURE',
      'A signature must not use the algorithm HS256',
    ],
    ['no key', [by({ alg: 'ES256' })], 'INVALID_SIGNATURE', 'A signature does not name its key'],
    [
      'a key without a name',
      [by({ alg: 'ES256', kid: '' })],
      'INVALID_SIGNATURE',
      'A signature does not name its key',
    ],
    [
      'a number for a key',
      [by({ alg: 'ES256', kid: 7 })],
      'INVALID_SIGNATURE',
      'A signature does not name its key',
    ],
    ['an unknown key', [by({ alg: 'ES256', kid: 'k-9' })], 'UNTRUSTED_KEY', 'The key "k-9" is not trusted'],
    [
      'another algorithm than its key',
      [by({ alg: 'RS256', kid: 'k-1' })],
      'INVALID_SIGNATURE',
      'The signature by "k-1" is not genuine',
    ],
    [
      'a forged signature',
      [{ ...signature!, signature: 'AAAA' }],
      'INVALID_SIGNATURE',
      'The signature by "k-1" is not genuine',
    ],
  ])('for %s says so [R-SIG-07]', async (_what, signatures, code, message) => {
    expect(await refusal({ ...fullCard, signatures })).toMatchObject({ code, message });
  });

  it('is refused for its first signature by a trusted key, wherever that stands [R-SIG-07]', async () => {
    const unknown = by({ alg: 'ES256', kid: 'k-9' });
    const keyless = by({ alg: 'ES256' });
    const forged = { ...signature!, signature: 'AAAA' };
    const messages = {
      unknown: 'The key "k-9" is not trusted',
      keyless: 'A signature does not name its key',
      forged: 'The signature by "k-1" is not genuine',
    };
    for (const [signatures, message] of [
      [[unknown, forged], messages.forged],
      [[forged, unknown], messages.forged],
      [[keyless, forged], messages.keyless],
      [[forged, keyless], messages.forged],
      [[unknown], messages.unknown],
    ] as const)
      expect((await refusal({ ...fullCard, signatures })).message).toBe(message);
  });

  it('keeps the cause if it has no canonical form, and has none otherwise', async () => {
    const error = await refusal({ ...signed, name: '\ud800' });
    expect(error).toMatchObject({ message: 'The card cannot be made canonical', cause: expect.any(Error) });
    expect(Object.hasOwn(await refusal({ ...fullCard }), 'cause')).toBe(false);
  });

  it('keeps the cause if the trusted keys cannot be fetched', async () => {
    const server = await serveKeys(key);
    server.trouble = 503;
    expect(await refusal(signed, { jwks: [server.url] })).toMatchObject({
      code: 'KEYS_UNAVAILABLE',
      message: 'The trusted keys cannot be fetched',
      cause: expect.objectContaining({ message: 'The keys were answered with 503 and no key set' }),
    });
  });
});

describe('trusted keys', () => {
  it('that were given are used before published ones are fetched', async () => {
    const server = await serveKeys(key);
    await verifyCard(signed, { ...trust, jwks: [server.url] });
    expect(server.asked).toBe(0);
  });

  it('are not fetched again for a key that they have, nor within the cooldown', async () => {
    const server = await serveKeys(newKey('other'), key);
    const eager: CardTrust = { jwks: [server.url], caching: { cooldownMs: 0 } };
    await verifyCard(signed, eager);
    await verifyCard(signed, eager);
    expect(server.asked).toBe(1);
    const patient: CardTrust = { jwks: [server.url] };
    const stranger = await signCard(fullCard, newKey('k-2'));
    await expect(verifyCard(stranger, patient)).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
    await expect(verifyCard(stranger, patient)).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
    expect(server.asked).toBe(2);
  });

  it('are fetched again when they are older than is allowed', async () => {
    const server = await serveKeys(key);
    const aging: CardTrust = { jwks: [server.url], caching: { maxAgeMs: 0 } };
    await verifyCard(signed, aging);
    server.keys = [newKey('k-2')];
    await expect(verifyCard(signed, aging)).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
  });

  it('are asked at all addresses if `jku` names an unknown one, whatever it is', async () => {
    const server = await serveKeys(key);
    for (const jku of ['no address', 'https://unknown.example/jwks.json']) {
      const card = await signCard(fullCard, key, { jku });
      await expect(verifyCard(card, { jwks: [server.url] })).resolves.toMatchObject({ kid: 'k-1' });
    }
  });
});

describe('a signature', () => {
  it('replaces those of its own key, and no signature that cannot be read', async () => {
    const unreadable = { protected: '%', signature: 'x' };
    const card = await signCard({ ...signed, signatures: [unreadable, ...signed.signatures!] }, key);
    expect(card.signatures).toHaveLength(2);
    expect(card.signatures?.[0]).toEqual(unreadable);
  });

  it('is found again by its header in the alphabet of URLs', async () => {
    // The header has both characters in which the two alphabets of Base64 differ.
    const kid = '???>>>~~~';
    const odd = { ...key, kid };
    const once = await signCard(bareCard, odd, { forSdk: false });
    expect(once.signatures![0]!.protected).toMatch(/[-_]/);
    expect((await signCard(once, odd, { forSdk: false })).signatures).toHaveLength(1);
  });

  it('in the form of the official SDKs is accepted without being lenient if it covers all security members', async () => {
    const card = await signCard(bareCard, key);
    expect(card.signatures).toHaveLength(2);
    const sdkOnly = { ...card, signatures: [card.signatures![1]!] };
    expect(await verifyCard(sdkOnly, trust)).toMatchObject({ unauthenticated: [] });
    const open = await signCard(
      { ...bareCard, securityRequirements: [{ schemes: { k: { list: [] } } }] },
      key,
    );
    const sdkOfOpen = { ...open, signatures: [open.signatures![1]!] };
    expect((await refusal(sdkOfOpen)).code).toBe('INVALID_SIGNATURE');
    expect(await verifyCard(sdkOfOpen, { ...trust, lenient: true })).toMatchObject({
      unauthenticated: ['securityRequirements[0].schemes.k', 'securityRequirements[0]'],
    });
  });
});
