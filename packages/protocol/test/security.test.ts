import { describe, expect, it } from 'vitest';
import type { SecurityRequirement } from '../src/index.ts';
import { type Granted, unmetRequirement } from '../src/security.ts';

const needs = (schemes: Record<string, readonly string[]>): SecurityRequirement => ({
  schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list: [...list] }])),
});

describe('what a caller lacks for a security requirement [R-AUTH-01]', () => {
  it.each<[string, readonly SecurityRequirement[] | undefined, Granted | undefined, unknown]>([
    ['nothing is required', undefined, undefined, undefined],
    ['there are no requirements', [], {}, undefined],
    ['an empty requirement', [{}], {}, undefined],
    ['a requirement without schemes', [{ schemes: {} }], undefined, undefined],
    ['a scope that it has', [needs({ o: ['a'] })], { scopes: ['b', 'a'] }, undefined],
    ['a scope that it lacks', [needs({ o: ['a', 'b'] })], { scopes: ['b'] }, { schemes: [], scopes: ['a'] }],
    ['scopes, of a caller without any', [needs({ o: ['a'] })], undefined, { schemes: [], scopes: ['a'] }],
    ['a scheme, of a caller whose schemes are unknown', [needs({ o: [] })], { scopes: [] }, undefined],
    ['a scheme that it used', [needs({ o: [] })], { schemes: ['o'] }, undefined],
    ['another scheme', [needs({ o: [] })], { schemes: ['k'] }, { schemes: ['o'], scopes: [] }],
    [
      'two schemes of which it used one',
      [needs({ o: [], k: [] })],
      { schemes: ['k'] },
      { schemes: ['o'], scopes: [] },
    ],
    [
      'one of two, of which it meets the second',
      [needs({ o: ['a'] }), needs({ k: [] })],
      { schemes: ['k'] },
      undefined,
    ],
    [
      'one of two: the nearer one counts',
      [needs({ o: ['a', 'b'] }), needs({ o: ['c'] })],
      {},
      { schemes: [], scopes: ['c'] },
    ],
    [
      'one of two that are as near: the first counts',
      [needs({ o: ['a'] }), needs({ o: ['c'] })],
      {},
      { schemes: [], scopes: ['a'] },
    ],
    ['a scope twice', [needs({ o: ['a'], p: ['a'] })], {}, { schemes: [], scopes: ['a'] }],
    ['a scheme without a list', [{ schemes: { o: {} } }], { schemes: [] }, { schemes: ['o'], scopes: [] }],
  ])('%s', (_what, requirements, granted, expected) => {
    const unmet = unmetRequirement(requirements, granted);
    expect(unmet && { schemes: unmet.schemes, scopes: unmet.scopes }).toEqual(expected);
  });

  it('comes with the requirement that the caller is nearest to', () => {
    const near = needs({ o: ['c'], p: [] });
    const requirements = [needs({ o: ['a', 'b'] }), near, needs({ k: [] })];
    expect(unmetRequirement(requirements, { schemes: ['o', 'p'], scopes: [] })?.requirement).toBe(near);
  });
});
