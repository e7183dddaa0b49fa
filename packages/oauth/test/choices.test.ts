import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCard, SecurityScheme } from '@batonjs/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OAuthClient, oauth, type StoredToken } from '../src/index.ts';
import { fileTokenStore } from '../src/node/file-token-store.ts';
import { failureOf } from './agent.ts';

const oidc = (issuer: string): SecurityScheme => ({
  openIdConnectSecurityScheme: { openIdConnectUrl: `${issuer}/.well-known/openid-configuration` },
});
const machine = (tokenUrl: string): SecurityScheme => ({
  oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl, scopes: {} } } },
});
const one = 'https://one.example';
const two = 'https://two.example';

/** Scopes by scheme: one alternative. */
const needs = (schemes: Record<string, string[]>) => ({
  schemes: Object.fromEntries(Object.entries(schemes).map(([name, list]) => [name, { list }])),
});

/** The server and the scopes of the token that an agent with this card gets. Its store has one for everything. */
function tokenFor(
  card: object,
  { skills = [], clients = {} }: { skills?: string[]; clients?: Record<string, OAuthClient> } = {},
  more: object = {},
) {
  const store = {
    get(key: string): StoredToken {
      const [, server, , , , scopes] = JSON.parse(key);
      return { accessToken: [server, ...scopes].join('_'), obtainedAt: Date.now() };
    },
    set() {},
    delete() {},
  };
  const known = { [one]: { clientId: 'me' }, [two]: { clientId: 'me' } };
  const given = oauth({ clients: Object.keys(clients).length > 0 ? clients : known, store, skills });
  const request = { url: 'https://agent.example/rpc', isTrusted: true, card: card as AgentCard, ...more };
  return Promise.resolve(given(request)).then((headers) => headers?.authorization?.replace('Bearer ', ''));
}

describe('the scheme that a token is for', () => {
  it('has the scopes of the card and of the skill together, each once', async () => {
    const card = {
      securitySchemes: { a: oidc(one) },
      securityRequirements: [needs({ a: ['read', 'list'] })],
      skills: [
        { id: 'write', securityRequirements: [needs({ a: ['read', 'write'] })] },
        { id: 'other', securityRequirements: [needs({ a: ['other'] })] },
      ],
    };
    expect(await tokenFor(card, { skills: ['write'] })).toBe(`${one}/_list_read_write`);
    expect(await tokenFor(card)).toBe(`${one}/_list_read`);
  });

  it('is the one that a challenge names, also one that only a skill requires', async () => {
    const card = {
      securitySchemes: { a: oidc(one), b: oidc(two), key: { apiKeySecurityScheme: {} } },
      securityRequirements: [needs({ a: [] })],
    };
    const refused = (realm: string) => ({ challenge: `Bearer realm="${realm}"`, refused: {} });
    expect(await tokenFor(card, {}, refused('a'))).toBe(`${one}/`);
    expect(await tokenFor(card, {}, refused('b'))).toBe(`${two}/`);
    expect(await tokenFor(card, {}, refused('none'))).toBe(`${one}/`);
    const both = { ...card, securityRequirements: [needs({ a: [] }), needs({ b: [] })] };
    expect(await tokenFor(both, {}, refused('b'))).toBe(`${two}/`);
    expect(await tokenFor(both, {}, refused('a'))).toBe(`${one}/`);
  });

  it('is not looked for in challenges of other schemes', async () => {
    const card = {
      securitySchemes: { a: oidc(one), b: oidc(two) },
      securityRequirements: [needs({ a: [] }), needs({ b: [] })],
    };
    const challenge = 'Basic realm="a", Bearer realm="b"';
    expect(await tokenFor(card, {}, { challenge, refused: {} })).toBe(`${two}/`);
  });

  it('may not stand beside one of another server in the same request', async () => {
    const card = {
      securitySchemes: { a: oidc(one), b: oidc(two), c: oidc(one) },
      securityRequirements: [needs({ a: [], b: [] })],
    };
    const error = await failureOf(tokenFor(card));
    expect(error).toMatchObject({
      code: 'NO_CLIENT',
      message: 'The card asks for tokens of two servers in one request',
    });
    const same = { ...card, securityRequirements: [needs({ a: ['x'], c: ['y'] })] };
    expect(await tokenFor(same)).toBe(`${one}/_x_y`);
  });

  it('is looked for in at most 64 combinations of what the card and its skills allow', async () => {
    const schemes = Array.from({ length: 64 }, (_, n) => `s${n}`);
    const list = schemes.map((name) => needs({ [name]: [] }));
    const card = {
      securitySchemes: Object.fromEntries(schemes.map((name) => [name, oidc('https://evil.example')])),
      securityRequirements: list,
      skills: Array.from({ length: 40 }, (_, n) => ({ id: `${n}`, securityRequirements: list })),
    };
    const skills = card.skills.map(({ id }) => id);
    expect(await failureOf(tokenFor(card, { skills }))).toMatchObject({ code: 'NO_CLIENT' });
  });
});

describe('the client that a token is for', () => {
  const card = (tokenUrl: string) => ({
    securitySchemes: { a: machine(tokenUrl) },
    securityRequirements: [needs({ a: [] })],
  });

  it('is that of the issuer whose path the token URL has, of several at one origin', async () => {
    const clients = {
      [`${one}/tenant-1`]: { clientId: 'first' },
      [`${one}/tenant-2`]: { clientId: 'second' },
      [`${one}/other`]: { clientId: 'third' },
    };
    for (const tenant of ['tenant-1', 'tenant-2', 'other'])
      expect(await tokenFor(card(`${one}/${tenant}/token`), { clients })).toBe(`${one}/${tenant}`);
  });

  it('may be for some agents only', async () => {
    const clients = (agent: string) => ({ [one]: { clientId: 'me', agents: ['https://x.example', agent] } });
    const { securitySchemes, securityRequirements } = card(`${one}/token`);
    const asked = (agent: string) =>
      tokenFor({ securitySchemes, securityRequirements }, { clients: clients(agent) });
    expect(await asked('https://agent.example/some/path')).toBe(`${one}/`);
    expect(await failureOf(asked('https://other.example'))).toMatchObject({
      message: `The client of ${one}/ is not for the agent at https://agent.example`,
    });
  });
});

describe('a store in files', () => {
  const folder = async () => {
    const path = await mkdtemp(join(tmpdir(), 'oauth-'));
    onTestFinished(() => rm(path, { recursive: true }));
    return path;
  };

  it('takes a token that was deleted for none, and may delete it again', async () => {
    const store = fileTokenStore(await folder());
    const token = { accessToken: 'a', obtainedAt: 1 };
    await store.set('key', token);
    expect(await store.get('key')).toEqual(token);
    for (const _ of [1, 2]) await store.delete('key');
    expect(await store.get('key')).toBeUndefined();
  });

  it('makes its folder with all above it, and a file for each key whose name does not show it', async () => {
    const path = join(await folder(), 'a', 'b');
    const store = fileTokenStore(path);
    for (const key of ['one', 'two']) await store.set(key, { accessToken: key, obtainedAt: 1 });
    expect((await readdir(path)).sort()).toEqual(
      ['one', 'two'].map((key) => `${createHash('sha256').update(key).digest('hex')}.json`).sort(),
    );
    expect(await store.get('one')).toEqual({ accessToken: 'one', obtainedAt: 1 });
  });

  it('leaves nothing of a token that cannot be written', async () => {
    const path = await folder();
    const store = fileTokenStore(path);
    const name = `${createHash('sha256').update('key').digest('hex')}.json`;
    await mkdir(join(path, name, 'full'), { recursive: true });
    await expect(async () => store.set('key', { accessToken: 'a', obtainedAt: 1 })).rejects.toMatchObject({
      syscall: 'rename',
    });
    expect(await readdir(path)).toEqual([name]);
  });

  it('that cannot be read fails', async () => {
    const path = join(await folder(), 'a-file');
    await writeFile(path, '');
    await expect(async () => fileTokenStore(path).get('key')).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

describe('the words of an authorization server in an error', () => {
  const refusal = async (answer: () => Response) => {
    const clients = { [`${one}/token`]: { clientId: 'me', clientSecret: 'secret' } };
    const request = {
      url: 'https://agent.example/rpc',
      isTrusted: true,
      card: {
        securitySchemes: { a: machine(`${one}/token`) },
        securityRequirements: [needs({ a: [] })],
      } as unknown as AgentCard,
    };
    return failureOf(Promise.resolve(oauth({ clients, fetch: async () => answer() })(request)));
  };

  it('have at most 200 characters, and none that a terminal obeys', async () => {
    const description = `\u001b[31m${'x'.repeat(1_000)}`;
    const error = await refusal(() =>
      Response.json({ error: 'invalid_client', error_description: description }, { status: 400 }),
    );
    expect(error.message).toBe(
      `The authorization server ${one}/token refuses with invalid_client: ?[31m${'x'.repeat(195)}`,
    );
  });

  it.each<[string, () => Response, string]>([
    ['redirects', () => new Response(null, { status: 302 }), 'redirects, which it must not'],
    ['answers nothing', () => new Response(null, { status: 204 }), 'gives no usable answer'],
  ])('are those of this package if it %s', async (_, answer, says) => {
    const error = await refusal(answer);
    expect([error.code, error.message]).toEqual(['INVALID_ANSWER', expect.stringContaining(says)]);
  });
});
