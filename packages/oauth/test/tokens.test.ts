import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  type Authorize,
  memoryTokenStore,
  type OAuthOptions,
  oauth,
  type StoredToken,
} from '../src/index.ts';
import { fileTokenStore } from '../src/node/file-token-store.ts';
import { audience, failureOf, guardedAgent } from './agent.ts';
import { type AuthorizationServer, secret, startAuthorizationServer } from './authorization-server.ts';

let id: AuthorizationServer;
beforeAll(async () => {
  id = await startAuthorizationServer(audience);
});
afterAll(() => id.close());
beforeEach(() => {
  id.asked.length = 0;
});

const tokensAsked = () => id.asked.filter((path) => path === 'POST /token').length;
const flows = () => id.asked.filter((path) => path === 'GET /auth').length;
const inBrowser: Authorize = async (begin) => id.browse(await begin('http://127.0.0.1/callback'));
const hourMs = 3_600_000;
const minuteMs = 60_000;

/** An agent for a person, and the options of a client, whose clock the test moves. */
function person(more: Partial<OAuthOptions> = {}) {
  const clock = { ms: Date.now() };
  const options: OAuthOptions = {
    clients: { [id.issuer]: { clientId: 'program' } },
    authorize: inBrowser,
    now: () => clock.ms,
    ...more,
  };
  return { ...guardedAgent({ issuer: id.issuer, scheme: 'person' }), clock, options };
}

/** The same, after the first call of the client. */
async function signedIn(more?: Partial<OAuthOptions>) {
  const started = person(more);
  const agent = await started.connect({ credentials: oauth(started.options) });
  await agent.listTasks();
  return { ...started, agent };
}

const machine = () => ({ clients: { [id.issuer]: { clientId: 'machine', clientSecret: secret } } });

describe('a token', () => {
  it('is got once for many parallel requests', async () => {
    const { connect, seen } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
    const agent = await connect({ credentials: oauth(machine()) });
    await Promise.all(Array.from({ length: 20 }, () => agent.listTasks()));
    expect(tokensAsked()).toBe(1);
    expect(new Set(seen).size).toBe(1);
  });

  it('is refreshed before it expires, once for many parallel requests, without the person', async () => {
    const { agent, seen, clock } = await signedIn();
    expect([flows(), tokensAsked()]).toEqual([1, 1]);
    clock.ms += hourMs - 20_000;
    await Promise.all(Array.from({ length: 20 }, () => agent.listTasks()));
    expect([flows(), tokensAsked()]).toEqual([1, 2]);
    expect(new Set(seen).size).toBe(2);
  });

  it('is refreshed once for many parallel requests that the agent refuses', async () => {
    const { agent, seen, revoked } = await signedIn();
    revoked.add(seen[0]);
    const results = await Promise.all(Array.from({ length: 20 }, () => agent.listTasks()));
    expect(results).toHaveLength(20);
    expect([flows(), tokensAsked()]).toEqual([1, 2]);
  });

  it('that the agent refuses again and again is got twice, and then the refusal is the error', async () => {
    const { connect, revoked } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
    revoked.has = () => true;
    const agent = await connect({ credentials: oauth(machine()) });
    expect(await failureOf(agent.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(tokensAsked()).toBe(2);
  });

  it('that a person has just confirmed is not asked for again when the agent refuses it', async () => {
    const { connect, revoked, options } = person({
      // Without a refresh token, only the person could help.
      fetch: async (request) => {
        const response = await fetch(request);
        if (!request.url.endsWith('/token')) return response;
        const { refresh_token: _, ...rest } = (await response.json()) as Record<string, unknown>;
        return Response.json(rest, response);
      },
    });
    revoked.has = () => true;
    const agent = await connect({ credentials: oauth(options) });
    expect(await failureOf(agent.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(flows()).toBe(1);
  });

  it('is asked for again when its refresh token was revoked', async () => {
    const tokens = new Map<string, StoredToken>();
    const { agent, clock } = await signedIn({ store: tokens });
    const [{ refreshToken = '' } = {}] = tokens.values() as Iterable<Partial<StoredToken>>;
    await (await id.provider.RefreshToken.find(refreshToken))?.destroy();
    clock.ms += hourMs;
    await agent.listTasks();
    expect(flows()).toBe(2);
  });

  it.each([0, 10 * minuteMs])(
    'is asked for again if the agent refuses the refreshed one too, even %i ms later',
    async (laterMs) => {
      const { agent, revoked, clock } = await signedIn();
      clock.ms += 2 * minuteMs;
      // Only what the person confirms from now on is good enough.
      revoked.has = () => flows() < 2;
      expect(await failureOf(agent.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
      clock.ms += laterMs;
      await agent.listTasks();
      expect([flows(), tokensAsked()]).toEqual([2, 3]);
    },
  );

  it('is asked for again at once if the agent refuses one that was refreshed because it was over', async () => {
    const { agent, revoked, clock } = await signedIn();
    clock.ms += hourMs;
    revoked.has = () => flows() < 2;
    await agent.listTasks();
    expect([flows(), tokensAsked()]).toEqual([2, 3]);
  });

  it('is refreshed if it is refused long after it was refreshed because the one before was over', async () => {
    const { agent, seen, revoked, clock } = await signedIn();
    clock.ms += hourMs;
    await agent.listTasks();
    clock.ms += 10 * minuteMs;
    revoked.add(seen.at(-1));
    await agent.listTasks();
    expect([flows(), tokensAsked()]).toEqual([1, 3]);
  });

  it('without a known end is refreshed whenever it is refused after some time', async () => {
    const { agent, seen, revoked, clock } = await signedIn({
      fetch: async (request) => {
        const response = await fetch(request);
        if (!request.url.endsWith('/token')) return response;
        const { expires_in: _, ...rest } = (await response.json()) as Record<string, unknown>;
        return Response.json(rest, response);
      },
    });
    for (let round = 0; round < 3; round += 1) {
      clock.ms += 10 * minuteMs;
      revoked.add(seen.at(-1));
      await agent.listTasks();
    }
    expect([flows(), tokensAsked()]).toEqual([1, 4]);
  });

  it('is not asked for again while the person has just confirmed the one that it was refreshed from', async () => {
    const { connect, revoked, clock, options } = person();
    revoked.has = () => true;
    const agent = await connect({ credentials: oauth(options) });
    for (const _ of [1, 2, 3])
      expect(await failureOf(agent.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect([flows(), tokensAsked()]).toEqual([1, 2]);
    clock.ms += 2 * minuteMs;
    revoked.has = () => flows() < 2;
    await agent.listTasks();
    expect(flows()).toBe(2);
  });

  it('is refreshed again where only a person could get another one', async () => {
    const { connect, seen, revoked, options } = await signedIn({ store: memoryTokenStore() });
    const { authorize: _, ...alone } = options;
    const agent = await connect({ credentials: oauth(alone) });
    for (let round = 0; round < 3; round += 1) {
      revoked.add(seen.at(-1));
      await agent.listTasks();
    }
    expect([flows(), tokensAsked()]).toEqual([1, 4]);
  });

  it('that another process refreshed in the meantime is taken from the store', async () => {
    const tokens = memoryTokenStore();
    const { connect, clock, options } = person({ store: tokens });
    const agent = await connect({ credentials: oauth(options) });
    await agent.listTasks();
    clock.ms += hourMs;
    const late: OAuthOptions['fetch'] = async (request) => {
      // The other process is done first, so that this one comes with a refresh token that was used.
      if (request.url.endsWith('/token')) await other.listTasks();
      return fetch(request);
    };
    const other = await connect({ credentials: oauth(options) });
    const slow = await connect({ credentials: oauth({ ...options, fetch: late }) });
    await slow.listTasks();
    expect(flows()).toBe(1);
  });

  it('is not taken for one that other parameters would get', async () => {
    const { connect, options } = person({ store: memoryTokenStore() });
    const agentWith = (parameters: Record<string, string>) => {
      const clients = { [id.issuer]: { clientId: 'program', parameters } };
      return connect({ credentials: oauth({ ...options, clients }) });
    };
    const wrong = await agentWith({ audience: 'https://elsewhere.example', ui_locales: 'en' });
    expect(await failureOf(wrong.listTasks())).toMatchObject({ reason: 'UNAUTHENTICATED' });
    expect(flows()).toBe(1);
    await (await agentWith({ audience, ui_locales: 'en' })).listTasks();
    await (await agentWith({ ui_locales: 'en', audience })).listTasks();
    expect(flows()).toBe(2);
  });

  it('is no token of another agent, client or set of scopes', async () => {
    const tokens = new Map<string, StoredToken>();
    const store = { store: tokens };
    for (const [scheme, scopes, clientId] of [
      ['machine', ['read'], 'machine'],
      ['machine', ['write'], 'machine'],
      ['machine', ['read'], 'narrow'],
    ] as const) {
      const { connect } = guardedAgent({ issuer: id.issuer, scheme, scopes });
      const clients = { [id.issuer]: { clientId, clientSecret: secret } };
      await (await connect({ credentials: oauth({ clients, ...store }) })).listTasks();
    }
    expect(tokens.size).toBe(3);
    expect([...tokens.keys()].join()).not.toContain(secret);
  });
});

describe('an error of a function in the options', () => {
  const failure = new Error('No room');
  const fail = () => {
    throw failure;
  };

  it.each<[string, Partial<OAuthOptions>]>([
    ['`authorize`', { authorize: fail }],
    ['the store that reads', { store: { get: fail, set() {}, delete() {} } }],
    ['the store that writes', { store: { get: () => undefined, set: fail, delete() {} } }],
  ])('is the cause of the failed call: of %s', async (_, more) => {
    const { connect, options } = person(more);
    const agent = await connect({ credentials: oauth(options) });
    const error = await failureOf(agent.listTasks());
    expect(error).toMatchObject({ code: 'CREDENTIALS' });
    expect(error.cause).toBe(failure);
  });

  it('is the cause of the failed call: of `showDeviceCode`', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'device' });
    const clients = { [id.issuer]: { clientId: 'device' } };
    const agent = await connect({ credentials: oauth({ clients, showDeviceCode: fail }) });
    expect((await failureOf(agent.listTasks())).cause).toBe(failure);
  });
});

describe('a store in files', () => {
  const directory = async () => {
    const parent = await mkdtemp(join(tmpdir(), 'oauth-'));
    onTestFinished(() => rm(parent, { recursive: true }));
    return join(parent, 'tokens');
  };

  it('keeps tokens for other processes, in files that only their user can read', async () => {
    const path = await directory();
    for (let run = 0; run < 2; run += 1) {
      const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
      await (
        await connect({ credentials: oauth({ ...machine(), store: fileTokenStore(path) }) })
      ).listTasks();
    }
    expect(tokensAsked()).toBe(1);
    const [name = '', ...others] = await readdir(path);
    expect(others).toEqual([]);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    expect((await stat(join(path, name))).mode & 0o777).toBe(0o600);
  });

  it.each(['', '{', '[]', '{"accessToken":7}', '{"accessToken":"x","obtainedAt":"now"}'])(
    'takes the file %j for none',
    async (content) => {
      const path = await directory();
      const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
      const credentials = () => oauth({ ...machine(), store: fileTokenStore(path) });
      await (await connect({ credentials: credentials() })).listTasks();
      const [name = ''] = await readdir(path);
      await writeFile(join(path, name), content);
      await (await connect({ credentials: credentials() })).listTasks();
      expect(tokensAsked()).toBe(2);
      expect(JSON.parse(await readFile(join(path, name), 'utf8'))).toHaveProperty('accessToken');
    },
  );
});
