import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { checkSkill, claimsOf, derivedTaskId, skillIn } from '../../../src/operations/accept/receive.ts';

const skill = (id: string, list?: string[]) => ({
  ...{ id, name: id, description: id, tags: [] },
  ...(list && { securityRequirements: [{ schemes: { token: { list } } }] }),
});
const cardOf = (...skills: ReturnType<typeof skill>[]): AgentCard =>
  ({ skills, securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'Bearer' } } } }) as never;
const card = cardOf(skill('open'), skill('guarded', ['write']));

describe('a message to a skill', () => {
  it('is found by the id of the skill', () => {
    expect([skillIn(card, 'guarded')?.id, skillIn(card, 'none'), skillIn(card, undefined)]).toEqual([
      'guarded',
      undefined,
      undefined,
    ]);
  });

  it('is for everybody who has what the skill requires', () => {
    const able = { scope: 'ada', scopes: ['write'], schemes: ['token'] };
    for (const [id, caller] of [
      ['open', undefined],
      [undefined, undefined],
      ['none', undefined],
      ['guarded', able],
    ] as const)
      expect(() => checkSkill(id, caller, card)).not.toThrow();
  });

  it('is refused to others, with what they lack', () => {
    expect(() => checkSkill('guarded', undefined, card)).toThrow(
      expect.objectContaining({
        reason: 'UNAUTHENTICATED',
        message: 'The skill "guarded" needs credentials',
      }),
    );
    expect(() => checkSkill('guarded', { scope: 'ada', scopes: [] }, card)).toThrow(
      expect.objectContaining({
        ...{ reason: 'PERMISSION_DENIED', message: 'The skill "guarded" needs the scope write' },
        metadata: { skill: 'guarded', scope: 'write' },
        challenge: 'Bearer realm="token", error="insufficient_scope", scope="write"',
      }),
    );
  });
});

it('an agent learns the scope and the claims of its caller, and its credentials only where skills ask for them', () => {
  const caller = { scope: 'ada', claims: { name: 'Ada', scope: 'x' }, scopes: ['write'], schemes: ['token'] };
  expect(claimsOf(undefined, card)).toBeUndefined();
  expect(claimsOf(caller, cardOf(skill('open')))).toEqual({ name: 'Ada', scope: 'ada' });
  expect(claimsOf(caller, cardOf(skill('open', [])))).toMatchObject({ scopes: ['write'] });
  const known = { name: 'Ada', scope: 'ada', scopes: ['write'], schemes: ['token'] };
  expect(claimsOf(caller, card)).toEqual(known);
  expect(claimsOf({ scope: 'ada' }, card)).toEqual({ scope: 'ada', scopes: [] });
});

it('the task that a message starts has an id that looks like a UUID, and is the same for the same message', () => {
  const id = derivedTaskId('s', 'm');
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/);
  expect(derivedTaskId('s', 'm')).toBe(id);
  expect(new Set([id, derivedTaskId('s', 'n'), derivedTaskId('t', 'm')]).size).toBe(3);
});
