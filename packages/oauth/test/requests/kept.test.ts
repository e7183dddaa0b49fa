import { describe, expect, it } from 'vitest';
import { type OAuthClient, oauth } from '../../src/index.ts';
import { authority, cardWith, login, requestTo, token, tokenUrl, withFlow } from './authority.ts';
import { key, machine, minuteMs, now, type Setting, setting } from './setting.ts';

describe('a token that is kept', () => {
  const kept = (more: object = {}) => ({ accessToken: 'kept', obtainedAt: now - 50_000, ...more });

  it.each<[string, unknown, boolean]>([
    ['without an end', kept(), true],
    ['that ends in more than 30 s', kept({ obtainedAt: 0, expiresAt: now + 30_001 }), true],
    ['that ends in 30 s', kept({ obtainedAt: 0, expiresAt: now + 30_000 }), false],
    ['with more than a tenth of a short time left', kept({ expiresAt: now + 50_000 / 9 + 1 }), true],
    ['with a tenth of a short time left', kept({ obtainedAt: now - 45_000, expiresAt: now + 5_000 }), false],
    ['that is over', kept({ expiresAt: now - 1 }), false],
    [
      'with all members',
      kept({ expiresAt: now * 2, grantedAt: 1, refreshToken: 'r', isReplacement: true }),
      true,
    ],
    ['whose time is a text', kept({ obtainedAt: 'x' }), false],
    ['whose end is a text', kept({ expiresAt: 'x' }), false],
    ['whose grant is a text', kept({ grantedAt: 'x' }), false],
    ['whose refresh token is a number', kept({ refreshToken: 7 }), false],
    ['that is a number', kept({ accessToken: 7 }), false],
    ['that is null', null, false],
    ['that is a text', 'kept', false],
  ])('%s is given out, or another one is got', async (_, found, isGood) => {
    const { ask, server, written } = setting({ kept: found, client: machine });
    expect(await ask()).toBe(isGood ? 'Bearer kept' : 'Bearer new');
    expect(server.urls().includes(tokenUrl)).toBe(!isGood);
    expect(written).toEqual(
      isGood ? [] : [{ key, accessToken: 'new', obtainedAt: now, expiresAt: now + 3_600_000 }],
    );
  });

  it.each<[string, object, object]>([
    [
      'what is there',
      token('x', { refresh_token: 'r', id_token: undefined }),
      { refreshToken: 'r', expiresAt: now + 3_600_000 },
    ],
    ['no end', token('x', { expires_in: undefined }), {}],
    ['an end at once', token('x', { expires_in: 0 }), { expiresAt: now }],
    ['an end in words', token('x', { expires_in: '60' }), { expiresAt: now + minuteMs }],
    ['a type in any case', token('x', { token_type: 'bEARER' }), { expiresAt: now + 3_600_000 }],
  ])('has of an answer with %s what it says', async (_, answer, members) => {
    const { ask, written } = setting({ client: machine, answer });
    expect(await ask()).toBe('Bearer x');
    expect(written).toEqual([{ key, accessToken: 'x', obtainedAt: now, ...members }]);
  });

  it.each([token('x', { token_type: 'DPoP' }), token(`x\u007f`), token('x y'), token('x\u00e9')])(
    'is none of an answer %j',
    async (answer) => {
      const { ask, written } = setting({ client: machine, answer });
      await expect(ask()).rejects.toMatchObject({
        code: 'INVALID_ANSWER',
        message: 'The authorization server gives no bearer token',
      });
      expect(written).toEqual([]);
    },
  );

  it.each<[string, Partial<OAuthClient>, Setting['scheme'], unknown[]]>([
    ['nothing but its client', machine, login, key],
    [
      'a resource',
      { ...machine, resource: 'https://r.example' },
      login,
      [...key.slice(0, 4), 'https://r.example', []],
    ],
    ['the agent as its resource', { ...machine, resource: true }, login, [...key.slice(0, 4), true, []]],
    ['scopes', { ...machine, extraScopes: ['b', 'a'] }, login, [...key.slice(0, 5), ['a', 'b']]],
    [
      'parameters',
      { ...machine, parameters: { b: '2', a: '1', c: '3' } },
      login,
      [
        ...key,
        [
          ['a', '1'],
          ['b', '2'],
          ['c', '3'],
        ],
      ],
    ],
  ])('has a key that names %s', async (_, client, scheme, expected) => {
    const { ask, written } = setting({ client, scheme });
    await ask();
    expect(written).toMatchObject([{ key: expected }]);
  });

  it('has a key that names the flow of the card', async () => {
    const answers = { [tokenUrl]: token('x') };
    const keys: string[] = [];
    const store = { get: () => undefined, set: (key: string) => keys.push(key), delete() {} };
    const clients = { [tokenUrl]: { clientId: 'me', ...machine } };
    await oauth({ clients, store, fetch: authority(answers).fetch })(
      requestTo(cardWith(withFlow('clientCredentials'))),
    );
    expect(JSON.parse(keys.join())).toEqual([
      'https://agent.example',
      tokenUrl,
      'me',
      'clientCredentials',
      '',
      [],
    ]);
  });
});
