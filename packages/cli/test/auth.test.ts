import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { cli } from './cli.ts';
import { oauth, requires, serveAuthorization, serveSecured } from './secured-agent.ts';

const bearer = requires('b', { httpAuthSecurityScheme: { scheme: 'Bearer' } });

describe('credentials', () => {
  it.each([
    ['a bearer token', bearer, '--bearer t0ken', { headers: { authorization: 'Bearer t0ken' } }],
    [
      'a key in a header',
      requires('k', { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } }),
      '--api-key k3y',
      { headers: { 'x-key': 'k3y' } },
    ],
    [
      'a key in a query',
      requires('k', { apiKeySecurityScheme: { location: 'query', name: 'key' } }),
      '--api-key k3y',
      { url: '/rpc?key=k3y' },
    ],
    [
      'a key in a cookie',
      requires('k', { apiKeySecurityScheme: { location: 'cookie', name: 'sid' } }),
      '--api-key k3y',
      { headers: { cookie: 'sid=k3y' } },
    ],
  ])('are attached as the card says: %s [A2ACLI_AUTH_001, R-CLI-29]', async (_, card, flags, sent) => {
    const { url, seen, cardReads } = await serveSecured(card);
    expect((await cli(`send -a ${url} ${flags} hello`)).code).toBe(0);
    expect(seen).toMatchObject([sent]);
    // The card is public.
    expect(JSON.stringify(cardReads)).not.toMatch(/t0ken|k3y/);
  });

  it('come from variables too, and help warns of the command line [A2ACLI_AUTH_002, R-CLI-41]', async () => {
    const { url, seen } = await serveSecured(bearer);
    await cli(`send -a ${url} hello`, { env: { A2ACLI_BEARER: 'from-env' } });
    expect(seen[0]!.headers.authorization).toBe('Bearer from-env');
    const { stdout } = await cli('send --help');
    expect(stdout.replaceAll(/\s+/g, ' ').match(/in the process table and shell history/g)).toHaveLength(2);
    for (const name of ['A2ACLI_BEARER', 'A2ACLI_API_KEY']) expect(stdout).toContain(name);
    expect(stdout).not.toMatch(/svc-param.*(auth|credential)/i);
  });

  it('over a connection that is not verified are warned of [A2ACLI_AUTH_003]', async () => {
    const { url } = await serveSecured(bearer);
    const { stderr } = await cli(`send -a ${url} --bearer t0ken hello`);
    expect(stderr).toContain('Warning: A CREDENTIAL IS SENT OVER A CONNECTION THAT IS NOT VERIFIED');
    const open = await serveSecured({});
    expect((await cli(`send -a ${open.url} hello`)).stderr).not.toContain('CREDENTIAL');
  });

  it('are never shown, also not with --debug [A2ACLI_AUTH_004, R-CLI-34]', async () => {
    const key = requires('k', { apiKeySecurityScheme: { location: 'query', name: 'key' } });
    for (const [card, flags] of [
      [bearer, '--bearer s3cret'],
      [key, '--api-key s3cret'],
      [{}, '--svc-param x-internal:s3cret'],
      [{}, '--bearer s3cret'],
    ] as const)
      for (const refuse of [undefined, 401, 500]) {
        const { url } = await serveSecured(card, refuse);
        const { stdout, stderr } = await cli(`send -a ${url} ${flags} --debug hello`);
        expect(stdout + stderr).not.toContain('s3cret');
        expect(stderr).toContain('debug: > POST');
      }
  });

  it('that are missing or refused end with 4 [A2ACLI_AUTH_001, A2ACLI_EXIT_001, R-CLI-84, R-CLI-85]', async () => {
    const none = await serveSecured(bearer);
    const missing = await cli(`send -a ${none.url} -o json hello`);
    expect(missing).toMatchObject({ code: 4, json: { error: { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } } });
    expect(none.seen).toEqual([]);
    const wrong = await serveSecured(bearer, 401);
    const refused = await cli(`send -a ${wrong.url} --bearer old -o json hello`);
    expect(refused).toMatchObject({ code: 4, json: { error: { code: 'A2ACLI_ERR_AUTH_FAILED' } } });
  });

  it('of one kind do not go where another kind is asked for [A2ACLI_AUTH_001]', async () => {
    const { url, seen } = await serveSecured(requires('b', { httpAuthSecurityScheme: { scheme: 'Basic' } }));
    const { json } = await cli(`send -a ${url} --bearer t0ken -o json hello`);
    expect([json.error.code, seen]).toEqual(['A2ACLI_ERR_CREDENTIALS_MISSING', []]);
  });

  it('do not go to an agent that declares no scheme [A2ACLI_AUTH_008]', async () => {
    const { url, seen } = await serveSecured({});
    const { stderr, code } = await cli(`send -a ${url} --bearer t0ken --api-key k3y hello`);
    expect(code).toBe(0);
    expect(JSON.stringify(seen)).not.toMatch(/t0ken|k3y/);
    expect(stderr).toContain('declares no scheme for this credential');
  });
});

describe('auth login', () => {
  const login = async (line: string, card: Partial<AgentCard>) => {
    const home = temporaryFolder();
    const { url, seen } = await serveSecured(card);
    const ran = await cli(`auth login -a ${url} ${line}`, { home });
    await cli(`send -a ${url} hello`, { home });
    const { code, stdout, stderr } = ran;
    return { code, stdout, stderr, home, authorization: seen[0]?.headers.authorization };
  };

  it('gets a token by device code [A2ACLI_AUTH_005]', async () => {
    const { url, forms } = await serveAuthorization();
    const flow = {
      deviceAuthorizationUrl: `${url}/device`,
      tokenUrl: `${url}/token`,
      scopes: { read: 'Read' },
    };
    const ran = await login(
      `--client-id tool --authorization-server ${url}/token`,
      oauth({ deviceCode: flow }),
    );
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('Open https://login.example/device and enter the code ABCD');
    expect(forms[0]).toMatchObject({ path: '/device', client_id: 'tool', scope: 'read' });
    expect(forms.at(-1)).toMatchObject({ device_code: 'd1', client_id: 'tool' });
    expect(ran.authorization).toBe('Bearer from-login');
  });

  it('gets a token by client credentials [A2ACLI_AUTH_006]', async () => {
    const { url, forms } = await serveAuthorization();
    const card = oauth({ clientCredentials: { tokenUrl: `${url}/token`, scopes: {} } });
    const ran = await login(
      `--client-id tool --client-secret hush --authorization-server ${url}/token`,
      card,
    );
    expect([ran.code, ran.authorization]).toEqual([0, 'Bearer from-login']);
    expect(forms).toMatchObject([
      { grant_type: 'client_credentials', authorization: `Basic ${btoa('tool:hush')}` },
    ]);
    const refused = await login(
      `--client-id tool --client-secret wrong -o json --authorization-server ${url}/token`,
      card,
    );
    expect(refused).toMatchObject({ code: 4, authorization: undefined });
  });

  it('keeps tokens where only their user reads them, and attaches them by itself [A2ACLI_AUTH_007, R-CLI-44]', async () => {
    const { url } = await serveAuthorization();
    const card = oauth({ clientCredentials: { tokenUrl: `${url}/token`, scopes: {} } });
    const { home, stdout, authorization } = await login(
      `--client-id tool --client-secret hush --authorization-server ${url}/token`,
      card,
    );
    expect(statSync(join(home, '.config/a2a-cli/tokens.json')).mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain('from-login');
    expect(authorization).toBe('Bearer from-login');
  });

  it('sends a kept token only to the origin that it is for [A2ACLI_AUTH_007]', async () => {
    const { url: server } = await serveAuthorization();
    const card = oauth({ clientCredentials: { tokenUrl: `${server}/token`, scopes: {} } });
    const home = temporaryFolder();
    const good = await serveSecured(card);
    await cli(
      `auth login -a ${good.url} --client-id tool --client-secret hush --authorization-server ${server}/token`,
      { home },
    );
    // A card of another agent that names the good one first, and itself under the binding that is preferred.
    const evil = await serveSecured({});
    const lure = await serveSecured({
      ...card,
      supportedInterfaces: [
        { url: `${good.url}/rpc`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { url: `${evil.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    });
    await cli(`send -a ${lure.url} --transport jsonrpc hello`, { home });
    expect(JSON.stringify(evil.seen)).not.toContain('from-login');
  });

  it('finds the authorization server by OpenID Connect [A2ACLI_AUTH_010]', async () => {
    const { url } = await serveAuthorization();
    const card = requires('i', {
      openIdConnectSecurityScheme: { openIdConnectUrl: `${url}/.well-known/openid-configuration` },
    });
    const ran = await login(`--client-id tool --authorization-server ${url}`, card);
    expect([ran.code, ran.authorization]).toEqual([0, 'Bearer from-login']);
  });
});
