import {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  APIKeySecurityScheme,
  SecurityRequirement,
} from '@batonjs/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { repetitions } from '../../../../test/kit/repetitions.ts';
import { cardPayload, cardShape, type Shape } from '../../src/cards/card-payload.ts';
import { bareCard, fullCard } from './sample-cards.ts';

const specOf = (card: unknown) => JSON.parse(cardPayload(card).spec);

describe('the signed text of a card', () => {
  it('is everything but the signatures, in canonical form [R-SIG-02]', () => {
    const { spec } = cardPayload({ ...fullCard, signatures: [{ protected: 'a', signature: 'b' }] });
    expect(JSON.parse(spec)).toEqual(fullCard);
    expect(spec).toMatch(
      /^\{"capabilities":\{"extensions":\[\{"params":\{"limit":1e\+21,"list":\[1,"two",true\]\},"required":true,"uri":/,
    );
    expect(spec).not.toMatch(/": |, "|\n/);
    expect(spec).toContain('Keeps books — “exactly”');
  });

  it('does not depend on the order of members [R-SIG-02]', () => {
    const reversed = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(reversed)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([name, member]) => [name, reversed(member)]),
            )
          : value;
    expect(cardPayload(reversed(fullCard))).toEqual(cardPayload(fullCard));
  });

  it('includes required members at their default, also those that are missing [R-SIG-03]', () => {
    expect(specOf(bareCard)).toEqual(bareCard);
    const { description, skills, capabilities, defaultInputModes, ...sparse } = bareCard;
    expect(cardPayload(sparse).spec).toBe(cardPayload(bareCard).spec);
  });

  it('includes optional members whenever they are set [R-SIG-03] [R-JSON-11]', () => {
    const set = {
      ...bareCard,
      documentationUrl: '',
      iconUrl: '',
      capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
    };
    expect(specOf(set)).toEqual(set);
  });

  it('leaves all other members out at their default [R-SIG-03]', () => {
    const card = {
      ...bareCard,
      capabilities: { extensions: [] },
      supportedInterfaces: [{ ...bareCard.supportedInterfaces[0], tenant: '' }],
      securitySchemes: {},
      securityRequirements: [],
      provider: null,
    };
    expect(specOf(card)).toEqual(bareCard);
    const extension = { uri: 'urn:x', description: '', required: false };
    const flow = { tokenUrl: '', authorizationUrl: '', scopes: {}, pkceRequired: false, refreshUrl: '' };
    expect(
      specOf({
        ...bareCard,
        capabilities: { extensions: [extension] },
        securitySchemes: { o: { oauth2SecurityScheme: { flows: { authorizationCode: flow } } } },
        skills: [
          { id: 'i', name: 'n', description: '', tags: [], examples: [], inputModes: [], outputModes: [] },
        ],
      }),
    ).toMatchObject({
      capabilities: { extensions: [{ uri: 'urn:x' }] },
      securitySchemes: {
        o: {
          oauth2SecurityScheme: {
            flows: { authorizationCode: { tokenUrl: '', authorizationUrl: '', scopes: {} } },
          },
        },
      },
      skills: [{ id: 'i', name: 'n', description: '', tags: [] }],
    });
  });

  it('leaves free JSON as it is [R-SIG-04]', () => {
    const params = { empty: '', none: null, list: [], object: {}, off: false, zero: 0 };
    const card = { ...bareCard, capabilities: { extensions: [{ uri: 'urn:x', params }] } };
    expect(specOf(card).capabilities.extensions[0].params).toEqual(params);
  });

  it('is only what A2A 1.0 knows; everything else is named [R-SIG-09]', () => {
    const card = {
      ...bareCard,
      url: 'https://evil.example',
      capabilities: {
        stateTransitionHistory: true,
        extensions: [{ uri: 'urn:x', params: { any: 1 }, kind: 'y' }],
      },
      supportedInterfaces: [{ ...bareCard.supportedInterfaces[0], transport: 'JSONRPC' }],
      securitySchemes: { 'a.b': { mtlsSecurityScheme: { certificate: 'x' } } },
    };
    const { unknown, spec } = cardPayload(card);
    expect([...unknown].sort()).toEqual([
      'capabilities.extensions[0].kind',
      'capabilities.stateTransitionHistory',
      'securitySchemes.a.b.mtlsSecurityScheme.certificate',
      'supportedInterfaces[0].transport',
      'url',
    ]);
    expect(spec).not.toMatch(/evil|stateTransition|transport"|certificate|kind/);
  });

  it('lists the security members that the SDKs leave out [R-SIG-04]', () => {
    const card = {
      ...bareCard,
      securitySchemes: { tls: { mtlsSecurityScheme: {} }, key: fullCard.securitySchemes!.key },
      securityRequirements: [{}, { schemes: { key: { list: [] }, tls: { list: ['x'] } } }],
      skills: [{ ...fullCard.skills[0]!, securityRequirements: [{ schemes: { tls: {} } }] }],
    };
    const { sdk, missingInSdk } = cardPayload(card);
    expect(JSON.parse(sdk).securityRequirements).toEqual([{ schemes: { tls: { list: ['x'] } } }]);
    expect([...missingInSdk].sort()).toEqual([
      'securityRequirements[0]',
      'securityRequirements[1].schemes.key',
      'securitySchemes.tls',
      'securitySchemes.tls.mtlsSecurityScheme',
      'skills[0].securityRequirements[0]',
      'skills[0].securityRequirements[0].schemes.tls',
    ]);
    expect(cardPayload(fullCard).missingInSdk).toEqual([]);
  });

  it('covers members of any name, and members of the wrong type [R-SIG-02]', () => {
    const scheme = '{"__proto__":{"mtlsSecurityScheme":{}},"constructor":{"mtlsSecurityScheme":{}}}';
    const card = JSON.parse(`{"name":"x","securitySchemes":${scheme},"skills":"none","provider":[1]}`);
    const { spec } = cardPayload(card);
    expect(spec).toContain(scheme);
    expect(spec).toContain('"skills":"none"');
    expect(spec).toContain('"provider":[1]');
  });

  it('differs for two cards unless only defaults or unknown members differ', () => {
    const paths = (value: unknown): (string | number)[][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).flatMap(([name, member]) => {
            const step = Array.isArray(value) ? Number(name) : name;
            return [[step], ...paths(member).map((path) => [step, ...path])];
          })
        : [];
    const all = paths(fullCard);
    fc.assert(
      fc.property(fc.constantFrom(...all), fc.json(), (path, json) => {
        const changed = structuredClone(fullCard) as unknown as Record<string | number, unknown>;
        let parent = changed;
        for (const step of path.slice(0, -1)) parent = parent[step] as typeof parent;
        const last = path.at(-1)!;
        const before = parent[last];
        parent[last] = JSON.parse(json);
        const { spec, unknown } = cardPayload(changed);
        const isSame = JSON.stringify(before) === JSON.stringify(parent[last]);
        // Replacing a value by its default also changes the card.
        if (!isSame && unknown.length === 0) expect(spec).not.toBe(cardPayload(fullCard).spec);
      }),
      { numRuns: repetitions(150, 500) },
    );
  });

  it('is described by the same members as the schema of the card', () => {
    const membersOf = (schema: z.ZodType): string[] => {
      const { out = schema } = schema.def as { out?: z.ZodObject };
      return Object.keys((out as z.ZodObject).shape).sort();
    };
    const at = (shape: Shape, ...steps: string[]): Shape =>
      steps.reduce<Shape>((now, step) => {
        let [, kind] = now[step]!;
        while (typeof kind === 'object' && !('message' in kind)) kind = 'list' in kind ? kind.list : kind.map;
        return (kind as { message: Shape }).message;
      }, shape);
    const names = (...steps: string[]) => Object.keys(at(cardShape, ...steps)).sort();
    expect([...names(), 'signatures'].sort()).toEqual(membersOf(AgentCard));
    expect(names('supportedInterfaces')).toEqual(membersOf(AgentInterface));
    expect(names('provider')).toEqual(membersOf(AgentProvider));
    expect(names('capabilities')).toEqual(membersOf(AgentCapabilities));
    expect(names('capabilities', 'extensions')).toEqual(membersOf(AgentExtension));
    expect(names('skills')).toEqual(membersOf(AgentSkill));
    expect(names('securityRequirements')).toEqual(membersOf(SecurityRequirement));
    expect(names('securitySchemes', 'apiKeySecurityScheme')).toEqual(membersOf(APIKeySecurityScheme));
  });
});
