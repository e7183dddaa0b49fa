import { generateAgentCardSignature, type AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import type { AgentCard } from '@batonjs/protocol';
import { type CryptoKey, importJWK } from 'jose';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { publicKeys, signCard, verifyCard } from '../../src/index.ts';
import { newKey } from '../keys/sample-keys.ts';
import { bareCard, fullCard } from './sample-cards.ts';

const key = newKey('k-1');
const trust = { keys: publicKeys([key]).keys };

// The SDK logs every signature that does not match.
const debug = vi.spyOn(console, 'debug').mockImplementation(() => {});
afterAll(() => debug.mockRestore());

describe('the official SDK', () => {
  const cards = { 'with every member': fullCard, 'as empty as can be': bareCard };
  const publicKey = publicKeys([key]).keys[0]!;
  const sdkVerifies = async (card: AgentCard) =>
    verifyAgentCardSignature(async () => publicKey)(card as unknown as SdkCard);

  it.each(Object.entries(cards))('verifies a card %s that was signed here [R-SIG-04]', async (_, card) => {
    const ours = await signCard(card, key);
    await expect(sdkVerifies(ours)).resolves.toBeUndefined();
    await expect(sdkVerifies({ ...ours, name: 'Other' })).rejects.toThrow();
  });

  it.each(Object.entries(cards))(
    'signs a card %s so that it is verified here [R-SIG-04]',
    async (_, card) => {
      const sign = generateAgentCardSignature((await importJWK(key, 'ES256')) as CryptoKey, {
        alg: 'ES256',
        kid: 'k-1',
        typ: 'JOSE',
      });
      const theirs = JSON.parse(JSON.stringify(await sign(card as unknown as SdkCard)));
      await expect(verifyCard(theirs, trust)).resolves.toMatchObject({ kid: 'k-1', unauthenticated: [] });
      await expect(verifyCard({ ...theirs, name: 'Other' }, trust)).rejects.toMatchObject({
        code: 'INVALID_SIGNATURE',
      });
    },
  );

  it.each<[string, (card: AgentCard) => void]>([
    [
      'a requirement more',
      (card) => {
        card.securityRequirements!.push({ schemes: { key: { list: [] } } });
      },
    ],
    [
      'no requirement at all as a choice',
      (card) => {
        card.securityRequirements!.push({});
      },
    ],
    [
      'a scheme more',
      (card) => {
        card.securitySchemes!.tls = { mtlsSecurityScheme: {} };
      },
    ],
  ])('would not notice %s; we refuse it, or list it if lenient [R-SIG-04]', async (_, tamper) => {
    const secured = await signCard({ ...fullCard, skills: [], signatures: [] }, key);
    const [, bySdk] = secured.signatures!;
    const tampered = { ...structuredClone(secured), signatures: [bySdk!] };
    await expect(verifyCard(tampered, trust)).resolves.toBeDefined();
    tamper(tampered);
    await expect(sdkVerifies(tampered)).resolves.toBeUndefined();
    await expect(verifyCard(tampered, trust)).rejects.toMatchObject({ code: 'INVALID_SIGNATURE' });
    const { unauthenticated } = await verifyCard(tampered, { ...trust, lenient: true });
    expect(unauthenticated.join()).toMatch(/^security(Requirements\[2\]|Schemes\.tls)/);
  });

  it('needs a second signature only where a required member is empty [R-SIG-04]', async () => {
    expect((await signCard(fullCard, key)).signatures).toHaveLength(1);
    expect((await signCard(bareCard, key)).signatures).toHaveLength(2);
    expect((await signCard(bareCard, key, { forSdk: false })).signatures).toHaveLength(1);
  });
});
