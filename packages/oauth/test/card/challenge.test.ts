import { describe, expect, it } from 'vitest';
import { bearerChallenges } from '../../src/oauth.ts';

const bearer = (scope: string) => `Bearer realm="a", error="insufficient_scope", scope="${scope}"`;
const found = (scopes: string[]) => [{ realm: 'a', error: 'insufficient_scope', scopes }];

describe('the challenges of a header', () => {
  it.each<[string, object[]]>([
    ['', []],
    ['Bearer', [{ realm: undefined, error: undefined, scopes: [] }]],
    ['bearer realm="a"', [{ realm: 'a', error: undefined, scopes: [] }]],
    ['Basic realm="a"', []],
    ['Basic realm="a", Bearer realm="b", Digest realm="c"', [{ realm: 'b', error: undefined, scopes: [] }]],
    [
      'Bearer realm="a", Bearer error="invalid_token"',
      [
        { realm: 'a', error: undefined, scopes: [] },
        { realm: undefined, error: 'invalid_token', scopes: [] },
      ],
    ],
    [bearer('read'), found(['read'])],
    [bearer('read write  list '), found(['read', 'write', 'list'])],
    [bearer('!#[]~ é a\tb ok'), found(['!#[]~', 'ok'])],
    [bearer('https://api.example/read urn:x'), found(['https://api.example/read', 'urn:x'])],
    ['Bearer realm="', []],
    ['Bearer realm="€"', []],
  ])('%j are the ones of `Bearer`, with scopes as OAuth has them', async (header, expected) => {
    expect(await bearerChallenges(header)).toEqual(expected);
  });

  it('are read up to 8,192 characters', async () => {
    const longest = bearer('x'.repeat(8_192 - bearer('').length));
    expect(longest).toHaveLength(8_192);
    expect(await bearerChallenges(longest)).toHaveLength(1);
    expect(await bearerChallenges(`${longest} `)).toEqual([]);
  });
});
