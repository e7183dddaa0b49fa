import { describe, expect, it } from 'vitest';
import type { StoredToken } from '../../src/index.ts';
import { confirming, token } from './authority.ts';
import { key, machine, minuteMs, now, type Setting, setting } from './setting.ts';

const invalidGrant = () => Response.json({ error: 'invalid_grant' }, { status: 400 });

describe('a token that is over or refused', () => {
  const old = (more: object = {}): StoredToken => ({
    accessToken: 'old',
    refreshToken: 'r1',
    obtainedAt: now - 10 * minuteMs,
    expiresAt: now - 1,
    ...more,
  });
  const good = (more: object = {}) => old({ expiresAt: now + 60 * minuteMs, ...more });
  const refreshed = (more: object) => ({
    key,
    accessToken: 'new',
    refreshToken: 'r1',
    obtainedAt: now,
    expiresAt: now + 3_600_000,
    ...more,
  });
  const person = () => ({ authorize: confirming() });

  it.each<[string, Setting, string[], object[]]>([
    ['and was over', { kept: old() }, ['refresh_token'], [refreshed({ grantedAt: now - 10 * minuteMs })]],
    [
      'and descends from another',
      { kept: old({ grantedAt: 5 }) },
      ['refresh_token'],
      [refreshed({ grantedAt: 5 })],
    ],
    [
      'with another refresh token',
      { kept: old({ grantedAt: 5 }), answer: token('new', { refresh_token: 'r2' }) },
      ['refresh_token'],
      [refreshed({ grantedAt: 5, refreshToken: 'r2' })],
    ],
    [
      'and was refused',
      { kept: good(), isRefused: true },
      ['refresh_token'],
      [refreshed({ grantedAt: now - 10 * minuteMs, isReplacement: true })],
    ],
  ])('%s is refreshed, and keeps what is known of it', async (_, given, grants, written) => {
    const made = setting({ ...given, ...person() });
    expect(await made.ask()).toBe('Bearer new');
    expect(made.grants()).toEqual(grants);
    expect(made.written).toEqual(written);
  });

  /** A token that was refreshed before, so that another refresh may be in vain. */
  const again = (more: object) => good({ grantedAt: now - 30 * minuteMs, ...more });

  it.each<[string, StoredToken, string]>([
    ['was refreshed a minute ago', again({ obtainedAt: now - minuteMs }), 'refresh_token'],
    ['was refreshed less than a minute ago', again({ obtainedAt: now - minuteMs + 1 }), 'authorization_code'],
    ['was refreshed in place of one that was refused', again({ isReplacement: true }), 'authorization_code'],
    ['was so, and has no known end', again({ isReplacement: true, expiresAt: undefined }), 'refresh_token'],
    ['was never refreshed', good({ obtainedAt: now - minuteMs }), 'refresh_token'],
  ])('if it %s, and was refused, is refreshed or requested again', async (_, kept, grant) => {
    const made = setting({ kept, isRefused: true, ...person() });
    expect(await made.ask()).toBe('Bearer new');
    expect(made.grants()).toEqual([grant]);
  });

  it.each<[string, StoredToken, Setting, string | undefined]>([
    [
      'a minute ago is asked for',
      again({ obtainedAt: now, grantedAt: now - minuteMs }),
      person(),
      'authorization_code',
    ],
    [
      'less than a minute ago is not asked for',
      again({ obtainedAt: now, grantedAt: now - minuteMs + 1 }),
      person(),
      undefined,
    ],
    [
      'just now, without refreshes, is not asked for',
      good({ obtainedAt: now, refreshToken: undefined }),
      person(),
      undefined,
    ],
    [
      'just now is asked for where no person is needed',
      good({ obtainedAt: now, refreshToken: undefined }),
      { client: machine },
      'client_credentials',
    ],
  ])('that a person confirmed %s again', async (_, kept, more, grant) => {
    const made = setting({ kept, isRefused: true, ...more });
    expect(await made.ask()).toBe(grant && 'Bearer new');
    expect(made.grants()).toEqual(grant ? [grant] : []);
  });

  it('is requested again where its refresh token is no good any more', async () => {
    let isFirst = true;
    const answer = () => {
      const given = isFirst ? invalidGrant() : token('new');
      isFirst = false;
      return given;
    };
    const made = setting({ kept: old(), answer, ...person() });
    expect(await made.ask()).toBe('Bearer new');
    expect(made.grants()).toEqual(['refresh_token', 'authorization_code']);
    expect(made.written).toEqual([
      { key },
      { key, accessToken: 'new', obtainedAt: now, expiresAt: now + 3_600_000 },
    ]);
  });

  it('stays as it is where the server fails otherwise', async () => {
    const answer = () => Response.json({ error: 'invalid_client' }, { status: 400 });
    const made = setting({ kept: old(), answer, ...person() });
    await expect(made.ask()).rejects.toMatchObject({ code: 'REFUSED', reason: 'invalid_client' });
    expect(made.grants()).toEqual(['refresh_token']);
    expect(made.written).toEqual([]);
  });

  it.each<[string, unknown, string[], StoredToken?]>([
    [
      'has another one now',
      { accessToken: 'other', obtainedAt: now, expiresAt: now + minuteMs * 60 },
      ['refresh_token'],
    ],
    [
      'has another one that is over',
      { accessToken: 'other', obtainedAt: 0, expiresAt: 1 },
      ['refresh_token', 'authorization_code'],
    ],
    ['has the same one', old(), ['refresh_token', 'authorization_code']],
    ['has the same one, not over', good(), ['refresh_token', 'authorization_code'], good()],
    ['has none', undefined, ['refresh_token', 'authorization_code']],
  ])(
    'is looked for in the store, which %s, before anyone is asked',
    async (_, later, grants, kept = old()) => {
      const reads: unknown[] = [kept, kept, later];
      const store = { get: () => reads.shift() as StoredToken, set() {}, delete() {} };
      const answer = ({ form }: { form: Readonly<Record<string, string>> }) =>
        form.grant_type === 'refresh_token' ? invalidGrant() : token('new');
      const made = setting({ kept, store, answer: answer as object, isRefused: true, ...person() });
      expect(await made.ask()).toBe(grants.length === 1 ? 'Bearer other' : 'Bearer new');
      expect(made.grants()).toEqual(grants);
    },
  );

  it.each(['get', 'delete'] as const)('fails with the error of a store that cannot %s', async (name) => {
    const failure = new Error('No room');
    const reads: unknown[] = [old(), old()];
    const store = {
      get() {
        if (name === 'get' && reads.length === 0) throw failure;
        return (reads.shift() ?? old()) as StoredToken;
      },
      set() {},
      delete() {
        if (name === 'delete') throw failure;
      },
    };
    await expect(setting({ store, answer: invalidGrant, ...person() }).ask()).rejects.toBe(failure);
  });
});
