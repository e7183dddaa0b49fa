import { describe, expect, it } from 'vitest';
import { isStoreId } from '../../../src/base/token.ts';
import { scopeOf } from '../../../src/operations/call/call-context.ts';

describe('a text', () => {
  it.each<[unknown, boolean]>([
    ['t', true],
    ['\n', true],
    ['x'.repeat(1_024), true],
    ['', false],
    ['x'.repeat(1_025), false],
    ['a\0b', false],
    ['\ud800', false],
    [7, false],
    [['t'], false],
    [undefined, false],
  ])('%j may be an id in a store: %s', (id, expected) => {
    expect(isStoreId(id)).toBe(expected);
  });
});

describe('the scope of a caller', () => {
  it('is another one for another agent, tenant or caller, and never that of two together', () => {
    const scopes = [
      scopeOf('a'),
      scopeOf('b'),
      scopeOf('a', 't'),
      scopeOf('a', 'u'),
      scopeOf('a', undefined, { scope: 't' }),
      scopeOf('a', 't', { scope: 'c' }),
      scopeOf('a', '', { scope: 'tc' }),
      scopeOf('a","t'),
    ];
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(scopeOf('a', 't', { scope: 'c' })).toBe(scopes[5]);
    expect(scopeOf('a', '', { scope: '' })).toBe(scopes[0]);
  });

  it('has at most 512 characters, however long the name of the caller is', () => {
    const of = (length: number) => scopeOf('a', '', { scope: 'x'.repeat(length) });
    const rest = JSON.stringify(['a', '', '']).length;
    expect([of(512 - rest).length, of(513 - rest).length < 100]).toEqual([512, true]);
    expect(of(600)).not.toBe(of(601));
  });
});
