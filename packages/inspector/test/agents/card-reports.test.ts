import { CardSignatureError, type CardTrust } from '@batonjs/auth';
import { TYPED_SKILLS } from '@batonjs/extensions/client';
import { describe, expect, it } from 'vitest';
import { reportCard } from '../../src/agents/card-report.ts';

describe('the report about a card', () => {
  const of = (card: object, raw: unknown = card, used: object = {}, trust?: CardTrust) => {
    const client = { readCard: async () => card, interface: used };
    return reportCard({ client: async () => client, raw } as never, trust);
  };
  const [rpc, rest] = [
    { url: 'http://a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    { url: 'http://a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
  ];
  const card = { name: 'A', description: 'B', version: '1', supportedInterfaces: [rpc], skills: [] };

  it.each([
    ['JSONRPC', '1.0', true],
    ['HTTP+JSON', '1.0', true],
    ['GRPC', '1.0', true],
    ['JSONRPC', '0.3', true],
    ['HTTP+JSON', '0.3', true],
    ['JSONRPC', '0.3.0', true],
    ['HTTP+JSON', '0.3.0', true],
    ['GRPC', '0.3', false],
    ['OTHER', '1.0', false],
    ['JSONRPC', '2.0', false],
  ])('says whether %s %s can be used: %s', async (protocolBinding, protocolVersion, isUsable) => {
    const each = { url: 'http://a', protocolBinding, protocolVersion };
    const { interfaces } = await of({ ...card, supportedInterfaces: [each] });
    expect(interfaces).toEqual([{ ...each, isUsable, isChosen: false }]);
  });

  it('says which one is used', async () => {
    const others = [rpc, rest, { ...rpc, url: 'http://b' }, { ...rpc, protocolVersion: '0.3' }];
    const { interfaces } = await of({ ...card, supportedInterfaces: others }, undefined, rpc);
    expect(interfaces.map(({ isChosen }) => isChosen)).toEqual([true, false, false, false]);
  });

  it('has the card as it was sent, or else as it is, and its schemas', async () => {
    const extensions = [
      { uri: 'https://other.example' },
      { uri: TYPED_SKILLS, params: { skills: { a: { input: { type: 'object' } }, b: null } } },
    ];
    const typed = await of({ ...card, capabilities: { extensions } }, { raw: 1 });
    expect([typed.raw, typed.skillSchemas]).toEqual([{ raw: 1 }, { a: { type: 'object' }, b: undefined }]);
    const plain = await of(card, undefined);
    expect([plain.raw, plain.skillSchemas, plain.signature]).toEqual([card, {}, { state: 'absent' }]);
    expect((await of({ ...card, capabilities: {} })).skillSchemas).toEqual({});
  });

  it.each<[unknown, object]>([
    [null, { state: 'absent' }],
    [{ signatures: [] }, { state: 'absent' }],
    [{ signatures: 'x' }, { state: 'absent' }],
    [{ signatures: [{}] }, { state: 'unverifiable', why: 'The inspector was given no keys that it trusts' }],
  ])('judges the signatures of %j', async (raw, signature) => {
    expect((await of(card, raw ?? {})).signature).toEqual(signature);
  });

  it.each([
    ['KEYS_UNAVAILABLE', 'unverifiable'],
    ['UNTRUSTED_KEY', 'unverifiable'],
    ['INVALID_SIGNATURE', 'invalid'],
  ])('calls a signature with %s %s', async (code, state) => {
    const trust = {
      get keys(): never {
        throw new CardSignatureError(code as never, 'Because');
      },
    } as CardTrust;
    const signed = {
      ...card,
      signatures: [{ protected: btoa('{"alg":"ES256","kid":"k"}'), signature: 'AA' }],
    };
    expect((await of(signed, signed, {}, trust)).signature).toEqual({ state, why: 'Because' });
    const broken = {
      get keys(): never {
        throw new Error('Broken');
      },
    } as CardTrust;
    await expect(of(signed, signed, {}, broken)).rejects.toThrow('Broken');
  });
});
