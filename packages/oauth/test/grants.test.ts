import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authorize, type OAuthOptions, oauth } from '../src/index.ts';
import { loopback } from '../src/node/loopback.ts';
import { audience, failureOf, guardedAgent, textIn } from './agent.ts';
import {
  type AuthorizationServer,
  confirmDevice,
  secret,
  startAuthorizationServer,
} from './authorization-server.ts';

let id: AuthorizationServer;
beforeAll(async () => {
  id = await startAuthorizationServer(audience);
});
afterAll(() => id.close());

const machine = () => ({ [id.issuer]: { clientId: 'machine', clientSecret: secret } });
const program = () => ({ [id.issuer]: { clientId: 'program' } });

/** A person with a browser, who ends at the redirect. */
const inBrowser: Authorize = async (begin) => id.browse(await begin('http://127.0.0.1/callback'));

/** A `fetch` that shortens the pauses between two questions about a device code. */
const hurried: OAuthOptions['fetch'] = async (request) => {
  const response = await fetch(request);
  if (!request.url.endsWith('/device/auth')) return response;
  return Response.json({ ...((await response.json()) as object), interval: 0.01 }, response);
};

describe('a token', () => {
  it('comes by client credentials [R-AUTH-04]', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
    const agent = await connect({ credentials: oauth({ clients: machine() }) });
    expect(textIn(await agent.send('hi'))).toBe('Hello, machine');
  });

  it('comes from the token URL of the card, where that is the key of the client', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
    const clients = { [`${id.issuer}/token`]: { clientId: 'machine', clientSecret: secret } };
    id.asked.length = 0;
    const agent = await connect({ credentials: oauth({ clients }) });
    expect(textIn(await agent.send('hi'))).toBe('Hello, machine');
    expect(id.asked.filter((path) => path.includes('well-known'))).toEqual([]);
  });

  it('comes by the authorization code flow, to a program that listens on this machine [R-AUTH-04]', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'person' });
    let page = '';
    const authorize = loopback({
      async open(url) {
        const { searchParams } = url;
        expect(searchParams.get('code_challenge_method')).toBe('S256');
        expect(searchParams.get('state')).toMatch(/.{32}/);
        page = await (await fetch(await id.browse(url))).text();
      },
    });
    const agent = await connect({ credentials: oauth({ clients: program(), authorize }) });
    expect(textIn(await agent.send('hi'))).toBe('Hello, ada');
    expect(page).toContain('You can close this window');
  });

  it('comes by a device code, which is asked about until the person confirms [R-AUTH-04]', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'device' });
    const clients = { [id.issuer]: { clientId: 'device' } };
    let questions = 0;
    const showDeviceCode: OAuthOptions['showDeviceCode'] = ({ userCode, verificationUri, expiresAt }) => {
      expect(verificationUri).toBe(`${id.issuer}/device`);
      expect(expiresAt).toBeGreaterThan(Date.now());
      shown = userCode;
    };
    let shown = '';
    const fetch: OAuthOptions['fetch'] = async (request) => {
      if (request.url.endsWith('/token')) questions += 1;
      if (questions === 2) await confirmDevice(id, audience, shown);
      return hurried(request);
    };
    const agent = await connect({ credentials: oauth({ clients, showDeviceCode, fetch }) });
    expect(textIn(await agent.send('hi'))).toBe('Hello, ada');
    expect(questions).toBe(2);
  });

  it.each([
    ['machine', {}],
    ['ada', { authorize: inBrowser }],
  ])('comes by OpenID Connect discovery, for %s [R-AUTH-04]', async (name, options) => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'login' });
    const clients = name === 'ada' ? program() : machine();
    const agent = await connect({ credentials: oauth({ clients, ...options }) });
    expect(textIn(await agent.send('hi'))).toBe(`Hello, ${name}`);
  });

  it('has the origin of the agent as its audience, if the client asks for that', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine' });
    const bound = (resource: true | string) => ({
      [id.issuer]: { clientId: 'machine', clientSecret: secret, resource },
    });
    const agent = await connect({ credentials: oauth({ clients: bound(audience) }) });
    expect(textIn(await agent.send('hi'))).toBe('Hello, machine');
    // This agent is reached as http://localhost, and accepts tokens for its public address only.
    const other = await connect({ credentials: oauth({ clients: bound(true) }) });
    expect(await failureOf(other.send('hi'))).toMatchObject({ reason: 'UNAUTHENTICATED' });
  });
});

describe('a refusal of the authorization server', () => {
  it.each([
    ['a wrong secret', { clientId: 'machine', clientSecret: 'wrong' }, 'invalid_client'],
    ['an unknown client', { clientId: 'stranger', clientSecret: 'x' }, 'invalid_client'],
    ['a flow that is not the client’s', { clientId: 'program', clientSecret: 'x' }, 'invalid_client'],
    ['a scope that the client may not have', { clientId: 'narrow', clientSecret: secret }, 'invalid_scope'],
  ])('of %s is the cause of the failed call', async (_, client, reason) => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'machine', scopes: ['read', 'admin'] });
    const agent = await connect({ credentials: oauth({ clients: { [id.issuer]: client } }) });
    const error = await failureOf(agent.send('hi'));
    expect(error).toMatchObject({ code: 'CREDENTIALS', cause: { name: 'OAuthError', code: 'REFUSED' } });
    expect((error.cause as Error).message).toMatch(
      reason === 'invalid_client' ? /refuses the client|invalid_client/ : reason,
    );
    expect(inspect(error, { depth: 20 })).not.toContain(
      client.clientSecret === 'x' ? 'Basic' : client.clientSecret,
    );
  });

  it('of the person ends the call, and the next call asks again', async () => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'person' });
    const agent = await connect({ credentials: oauth({ clients: program(), authorize: inBrowser }) });
    id.isRefusing = true;
    expect(await failureOf(agent.send('hi'))).toMatchObject({
      cause: { code: 'REFUSED', reason: 'access_denied' },
    });
    id.isRefusing = false;
    expect(textIn(await agent.send('hi'))).toBe('Hello, ada');
  });

  it.each<[string, (url: URL) => void]>([
    ['of another flow', (url) => url.searchParams.set('state', 'another')],
    ['of another issuer', (url) => url.searchParams.set('iss', 'https://other.example')],
    ['without a code', (url) => url.searchParams.delete('code')],
  ])('is made of a redirect %s', async (_, change) => {
    const { connect } = guardedAgent({ issuer: id.issuer, scheme: 'person' });
    const authorize: Authorize = async (begin) => {
      const url = new URL(await inBrowser(begin));
      change(url);
      return url;
    };
    id.asked.length = 0;
    const agent = await connect({ credentials: oauth({ clients: program(), authorize }) });
    expect(await failureOf(agent.send('hi'))).toMatchObject({ cause: { code: 'INVALID_ANSWER' } });
    expect(id.asked).not.toContain('POST /token');
  });
});
