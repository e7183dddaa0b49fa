import { describe, expect, it } from 'vitest';
import { CardSignatureError, type CardTrust, publicKeys, signCard, verifyCard } from '../../src/index.ts';
import { newKey, serveKeys } from '../keys/sample-keys.ts';
import { fullCard } from './sample-cards.ts';

const key = newKey('k-1');
const trust: CardTrust = { keys: publicKeys([key]).keys };
const signed = await signCard(fullCard, key);

describe('trust', () => {
  it('is not given by having a key [R-SIG-08]', async () => {
    await expect(verifyCard(signed, { keys: [newKey('k-2')] })).rejects.toMatchObject({
      code: 'UNTRUSTED_KEY',
    });
    await expect(verifyCard(signed, {})).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
    await expect(verifyCard(signed, { keys: [newKey('k-1')] })).rejects.toMatchObject({
      code: 'INVALID_SIGNATURE',
    });
  });

  it('is never decided by `jku`: an address that is not trusted is not even asked [R-SIG-08]', async () => {
    const evil = await serveKeys(key);
    const card = await signCard(fullCard, key, { jku: evil.url });
    await expect(verifyCard(card, { keys: [newKey('k-2')] })).rejects.toMatchObject({
      code: 'UNTRUSTED_KEY',
    });
    const good = await serveKeys(newKey('k-2'));
    await expect(verifyCard(card, { jwks: [good.url] })).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
    expect(evil.asked).toBe(0);
    await expect(verifyCard(card, trust)).resolves.toMatchObject({ kid: 'k-1' });
  });

  it('may be in published keys, of which `jku` selects [R-SIG-07]', async () => {
    const other = await serveKeys(newKey('k-1'));
    const right = await serveKeys(key);
    const jwks = [other.url, right.url];
    await expect(verifyCard(signed, { jwks })).resolves.toMatchObject({ kid: 'k-1' });
    expect(other.asked).toBe(1);
    await expect(
      verifyCard(await signCard(fullCard, key, { jku: right.url }), { jwks }),
    ).resolves.toBeDefined();
    expect(other.asked).toBe(1);
  });

  it('follows published keys when they change [R-SIG-07]', async () => {
    const next = newKey('k-2');
    const server = await serveKeys(key);
    const published: CardTrust = { jwks: [server.url], caching: { cooldownMs: 0 } };
    await verifyCard(signed, published);
    await verifyCard(signed, published);
    expect(server.asked).toBe(1);
    server.keys = [next];
    await expect(verifyCard(await signCard(fullCard, next), published)).resolves.toMatchObject({
      kid: 'k-2',
    });
    expect(server.asked).toBe(2);
    await expect(verifyCard(signed, published)).rejects.toMatchObject({ code: 'UNTRUSTED_KEY' });
  });

  it('cannot be decided while the keys cannot be fetched', async () => {
    const server = await serveKeys(key);
    server.trouble = 503;
    await expect(verifyCard(signed, { jwks: [server.url] })).rejects.toMatchObject({
      code: 'KEYS_UNAVAILABLE',
    });
  });

  it('needs https, except on this machine [R-SIG-07]', async () => {
    await expect(verifyCard(signed, { jwks: ['http://keys.example/jwks.json'] })).rejects.toThrow(/https/);
  });

  const now = Date.UTC(2026, 0, 1);
  it.each<[string, Record<string, unknown>, Partial<CardTrust>]>([
    ['expired', { exp: now / 1_000 }, {}],
    ['not valid yet', { nbf: now / 1_000 + 1 }, {}],
    ['revoked where it stands', { revoked: { revoked_at: 1 } }, {}],
    ['revoked by name', {}, { revoked: ['k-1'] }],
    ['for encryption', { use: 'enc' }, {}],
    ['for another algorithm', { alg: 'ES384' }, {}],
  ])('ends with a key that is %s [R-SIG-07]', async (_, members, more) => {
    const fresh = { ...publicKeys([key]).keys[0]! };
    const usable = { ...fresh, exp: now / 1_000 + 1, nbf: now / 1_000, use: 'sig', alg: 'ES256' };
    const at = { now: () => now };
    await expect(verifyCard(signed, { keys: [usable], ...at })).resolves.toBeDefined();
    await expect(
      verifyCard(signed, { keys: [{ ...fresh, ...members }], ...at, ...more }),
    ).rejects.toMatchObject({
      code: 'UNTRUSTED_KEY',
    });
    const server = await serveKeys({ ...key, ...members });
    await expect(verifyCard(signed, { jwks: [server.url], ...at, ...more })).rejects.toMatchObject({
      code: 'UNTRUSTED_KEY',
    });
  });
});

describe('a card signature error', () => {
  it('is recognised with and without its code, also that of another copy of the package', async () => {
    const error = await verifyCard(signed, {}).catch((thrown: unknown) => thrown);
    const copy = { name: 'CardSignatureError', code: 'UNTRUSTED_KEY' };
    for (const value of [error, copy]) {
      expect(CardSignatureError.is(value)).toBe(true);
      expect(CardSignatureError.is(value, 'UNTRUSTED_KEY')).toBe(true);
      expect(CardSignatureError.is(value, 'UNSIGNED')).toBe(false);
    }
    const others = [undefined, null, 'UNTRUSTED_KEY', new TypeError('UNTRUSTED_KEY')];
    expect(others.filter((value) => CardSignatureError.is(value))).toEqual([]);
  });
});
