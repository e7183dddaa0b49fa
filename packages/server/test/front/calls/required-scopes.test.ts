import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/agent/caller.ts';
import { callerOf, withRequiredScopes } from '../../../src/front/calls/caller-limits.ts';
import { checkTenant } from '../../../src/operations/card/tenants.ts';

const head = { method: 'POST', path: '/', query: new URLSearchParams(), headers: {} };
const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
const cardWith = (...required: Record<string, { list?: string[] }>[]): AgentCard =>
  ({
    securitySchemes: { a: bearer, b: bearer },
    securityRequirements: required.map((schemes) => ({ schemes })),
  }) as never;

describe('a card', () => {
  it.each([[[]], [[{ a: {} }]], [[{ a: { list: [] } }]]])(
    'that requires no scope, %j, asks nothing more',
    (required) => {
      const authenticate = () => undefined;
      expect(withRequiredScopes(authenticate, cardWith(...required))).toBe(authenticate);
      expect(withRequiredScopes(undefined, cardWith({ a: { list: ['x'] } }))).toBeUndefined();
      expect(withRequiredScopes(authenticate, {} as never)).toBe(authenticate);
      expect(withRequiredScopes(authenticate, { securityRequirements: [{}] } as never)).toBe(authenticate);
    },
  );

  const ofA = { a: { list: ['read'] } };
  const ofB = { b: { list: ['write'] } };
  it.each<[string, Record<string, { list?: string[] }>[], Omit<Caller, 'scope'>, string | undefined]>([
    ['unknown scopes', [ofA], {}, undefined],
    ['the scope', [ofA], { scopes: ['read'] }, undefined],
    ['another scope', [ofA], { scopes: ['write'] }, 'This agent needs the scope read'],
    ['none', [ofA], { scopes: [] }, 'This agent needs the scope read'],
    ['the scopes of one of two', [ofA, ofB], { scopes: ['write'] }, undefined],
    ['the scheme, and its scope', [ofA, ofB], { scopes: ['read'], schemes: ['a'] }, undefined],
    [
      'the scheme, and the scope of another',
      [ofA, ofB],
      { scopes: ['write'], schemes: ['a'] },
      'This agent needs the scope read',
    ],
    ['a scheme of another name', [ofA, ofB], { scopes: ['write'], schemes: ['other'] }, undefined],
    ['a known and an unknown scheme', [ofA, ofB], { scopes: ['write'], schemes: ['a', 'other'] }, undefined],
    ['no scheme', [ofA], { scopes: ['read'], schemes: [] }, undefined],
    [
      'a scheme without a requirement of its own',
      [ofA],
      { scopes: ['read'], schemes: ['b'] },
      'This agent needs the scheme a',
    ],
  ])('with callers that have %s', async (_, required, given, message) => {
    const caller = { scope: 'ada', ...given };
    const asked = withRequiredScopes(async () => caller, cardWith(...required))!(head);
    if (message === undefined) expect(await asked).toBe(caller);
    else await expect(asked).rejects.toMatchObject({ reason: 'PERMISSION_DENIED', message });
  });

  it('leaves callers that are none to be refused as that', async () => {
    expect(await withRequiredScopes(() => undefined, cardWith(ofA))!(head)).toBeUndefined();
  });
});

describe('the caller', () => {
  it('is undefined where nobody asks, and has a scope', async () => {
    expect(await callerOf(head, undefined)).toBeUndefined();
    const ada = { scope: 'ada' };
    expect(await callerOf(head, () => ada)).toBe(ada);
    await expect(callerOf(head, () => undefined)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' });
    for (const scope of ['', undefined, 7])
      await expect(callerOf(head, () => ({ scope }) as never)).rejects.toThrow(
        new TypeError('`authenticate` must return a caller whose `scope` is a string that is not empty'),
      );
  });
});

describe('a tenant', () => {
  const ada = { scope: 'ada' };
  it('exists if it is listed, or if a function says so', async () => {
    await checkTenant(undefined, ada, ['a']);
    await checkTenant('', ada, []);
    await checkTenant('any', ada, undefined);
    await checkTenant('a', ada, ['a']);
    const asked: unknown[] = [];
    const exists = async (...args: unknown[]) => asked.push(args) === 1;
    await checkTenant('a', ada, exists);
    const refusal = {
      reason: 'TASK_NOT_FOUND',
      message: 'There is no such tenant',
      metadata: { tenant: 'a' },
    };
    await expect(checkTenant('a', ada, exists)).rejects.toMatchObject(refusal);
    await expect(checkTenant('a', ada, ['b'])).rejects.toMatchObject(refusal);
    expect(asked[0]).toEqual(['a', ada]);
  });
});
