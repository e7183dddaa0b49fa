import { getEventListeners } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OAuthError } from '@batonjs/oauth';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { toCliError } from '../src/commands/auth.ts';
import { cli } from './cli.ts';
import { oauth, requires, serveAuthorization, serveSecured } from './secured-agent.ts';

const grant = (tokenUrl: string) => oauth({ clientCredentials: { tokenUrl, scopes: {} } });

/** Logs in at an agent with a secret, and says what was kept. */
async function logIn(agent: string, flags = '') {
  const home = temporaryFolder();
  const line = `auth login -a ${agent} --client-id tool --client-secret hush -o json ${flags}`;
  const ran = await cli(line, { home });
  const kept = () => JSON.parse(readFileSync(join(home, '.config/a2a-cli/tokens.json'), 'utf8')) as object;
  const { code, stdout } = ran;
  return { home, code, stdout, kept, error: code === 0 ? undefined : ran.json.error };
}

describe('auth login', () => {
  it('sends nothing to an authorization server of a card that the user did not name', async () => {
    const stranger = await serveAuthorization();
    const { url } = await serveSecured(grant(`${stranger.url}/token`));
    const { error, stdout } = await logIn(url);
    expect(error).toMatchObject({
      code: 'A2ACLI_ERR_USAGE',
      message: expect.stringContaining(`${stranger.url}/token, not at ${url}`),
      hint: expect.stringContaining('--authorization-server'),
    });
    expect([stranger.forms, stdout]).toEqual([[], expect.not.stringContaining('hush')]);
  });

  it('sends nothing to a server beside the one that the user named', async () => {
    const [stranger, mine] = [await serveAuthorization(), await serveAuthorization()];
    const { url } = await serveSecured(grant(`${stranger.url}/token`));
    const { error } = await logIn(url, `--authorization-server ${mine.url}`);
    expect(error.message).toContain(`${stranger.url}/token, not ${mine.url}`);
    expect([stranger.forms, mine.forms]).toEqual([[], []]);
  });

  it('sends no person to an address of the card beside the server that the user named', async () => {
    const [stranger, mine] = [await serveAuthorization(), await serveAuthorization()];
    const flow = {
      tokenUrl: `${mine.url}/token`,
      deviceAuthorizationUrl: `${stranger.url}/device`,
      scopes: {},
    };
    const { url } = await serveSecured(oauth({ deviceCode: flow }));
    const { error } = await logIn(url, `--authorization-server ${mine.url}/token`);
    expect(error).toMatchObject({ code: 'A2ACLI_ERR_USAGE', message: expect.stringContaining('/device') });
    expect([stranger.forms, mine.forms]).toEqual([[], []]);
  });

  it('asks a server at the origin of the agent without being told', async () => {
    const same = await serveAuthorization((own) => ({
      ...grant(`${own}/token`),
      supportedInterfaces: [{ url: `${own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }));
    const { code, kept } = await logIn(same.url);
    expect([code, kept()]).toEqual([0, { [same.url]: expect.anything() }]);
  });

  it.each([
    'http://localhost.evil.example/token',
    'http://127.0.0.1.evil.example/token',
    'http://10.0.0.7/token',
  ])('takes %s for no address of this machine', async (tokenUrl) => {
    const { url } = await serveSecured(grant(tokenUrl));
    const { error } = await logIn(url, `--authorization-server ${tokenUrl}`);
    expect(error).toMatchObject({
      code: 'A2ACLI_ERR_CARD_INVALID',
      message: expect.stringContaining('neither https nor on this machine'),
    });
  });

  it('keeps the token for the origin that the user named, and sends it nowhere else', async () => {
    const server = await serveAuthorization();
    const other = await serveSecured({});
    const at = (url: string, protocolBinding: string) => ({ url, protocolBinding, protocolVersion: '1.0' });
    const agent = await serveSecured((own) => ({
      ...grant(`${server.url}/token`),
      supportedInterfaces: [at(`${other.url}/rpc`, 'JSONRPC'), at(`${own}/rpc`, 'JSONRPC')],
    }));
    const { home, kept } = await logIn(agent.url, `--authorization-server ${server.url}/token`);
    expect(Object.keys(kept())).toEqual([agent.url]);
    expect((await cli(`send -a ${agent.url} hello`, { home })).code).toBe(0);
    expect(agent.seen[0]?.headers.authorization).toBe('Bearer from-login');
    expect(other.seen).toEqual([]);
  });

  it('gets no token that could be sent nowhere, and sends a kept one to no other origin', async () => {
    const server = await serveAuthorization();
    const other = await serveSecured({});
    let isMoved = false;
    const agent = await serveSecured((own) => ({
      ...grant(`${server.url}/token`),
      supportedInterfaces: [
        { url: `${isMoved ? other.url : own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      ],
    }));
    const confirm = `--authorization-server ${server.url}/token`;
    const { home } = await logIn(agent.url, confirm);
    isMoved = true;
    const { stderr, code } = await cli(`send -a ${agent.url} hello`, { home });
    expect([code, other.seen]).toEqual([4, []]);
    expect(stderr).toContain('the token of auth login is not sent');
    expect((await logIn(agent.url, confirm)).error.message).toContain('no interface at');
  });

  it('wants the address of an agent, not a file that claims one', async () => {
    const file = join(temporaryFolder(), 'card.json');
    const supportedInterfaces = [
      { url: 'https://bank.example/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    writeFileSync(file, JSON.stringify({ ...grant('https://bank.example/token'), supportedInterfaces }));
    expect((await logIn(file)).error.message).toContain('A file does not say which agent');
  });

  it('says that an agent asks for no credentials, and that another asks for some it cannot get', async () => {
    const open = await serveSecured({});
    expect((await logIn(open.url)).error.message).toBe(
      'Secured asks for no credentials: it can be called without a login',
    );
    const basic = await serveSecured(requires('b', { httpAuthSecurityScheme: { scheme: 'Basic' } }));
    expect((await logIn(basic.url)).error.message).toContain('no way to log in');
  });

  it('asks as a program where there is a secret, and the card leaves the choice', async () => {
    const server = await serveAuthorization();
    const openIdConnectUrl = `${server.url}/.well-known/openid-configuration`;
    const { url } = await serveSecured(requires('i', { openIdConnectSecurityScheme: { openIdConnectUrl } }));
    const { code } = await logIn(url, `--authorization-server ${server.url}`);
    expect([code, server.forms.map(({ path, grant_type }) => [path, grant_type])]).toEqual([
      0,
      [
        ['/.well-known/openid-configuration', undefined],
        ['/token', 'client_credentials'],
      ],
    ]);
  });

  it('leaves nothing on the signal of Ctrl-C', async () => {
    const server = await serveAuthorization();
    const { url } = await serveSecured(grant(`${server.url}/token`));
    const { signal } = new AbortController();
    const line = `auth login -a ${url} --client-id tool --client-secret hush --authorization-server ${server.url}/token`;
    expect((await cli(line, { signal })).code).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each<[OAuthError['code'], string]>([
    ['NO_CLIENT', 'A2ACLI_ERR_USAGE'],
    ['NO_FLOW', 'A2ACLI_ERR_USAGE'],
    ['SCOPE_NOT_ALLOWED', 'A2ACLI_ERR_USAGE'],
    ['NOT_TRUSTED', 'A2ACLI_ERR_CARD_INVALID'],
    ['INSECURE_URL', 'A2ACLI_ERR_CARD_INVALID'],
    ['METADATA', 'A2ACLI_ERR_CARD_INVALID'],
    ['REFUSED', 'A2ACLI_ERR_AUTH_FAILED'],
    ['INVALID_ANSWER', 'A2ACLI_ERR_UNREACHABLE'],
    ['NETWORK', 'A2ACLI_ERR_UNREACHABLE'],
  ])('that fails with %s is %s', (code, name) => {
    const error = new OAuthError(code, 'http://a.example is not in `clients`');
    const { message } = toCliError(error);
    expect(toCliError(error).code).toBe(name);
    expect(message).toBe(
      code === 'NO_FLOW' ? error.message : 'http://a.example is not the one of --authorization-server',
    );
  });

  it('ends at Ctrl-C while a person is asked', async () => {
    const server = await serveAuthorization();
    const flow = {
      tokenUrl: `${server.url}/pending`,
      deviceAuthorizationUrl: `${server.url}/device`,
      scopes: {},
    };
    const { url } = await serveSecured(oauth({ deviceCode: flow }));
    const stop = new AbortController();
    const line = `auth login -a ${url} --client-id tool --flow device --authorization-server ${server.url}/pending`;
    const onWrite = (_: string, text: string) => text.includes('ABCD') && stop.abort();
    expect((await cli(line, { signal: stop.signal, onWrite })).code).toBe(130);
  });
});

describe('the .env of a folder', () => {
  const bearer = requires('b', { httpAuthSecurityScheme: { scheme: 'Bearer' } });

  /** A folder whose `.env` is a stranger's, below a home with settings of the user. */
  function inFolder(local: string, global = '') {
    const [cwd, home] = [temporaryFolder(), temporaryFolder()];
    mkdirSync(join(home, '.config/a2a-cli'), { recursive: true });
    writeFileSync(join(home, '.config/a2a-cli/.env'), global, { mode: 0o600 });
    writeFileSync(join(cwd, '.env'), local);
    return { cwd, home };
  }

  /** Names that stand in a stranger's file, with a value that leads to the stranger. */
  const redirects: readonly (readonly [string, (stranger: string) => string])[] = [
    ['another agent', (url) => `A2ACLI_AGENT_CARD=${url}`],
    ['another endpoint', (url) => `A2ACLI_ENDPOINT=${url}/rpc\nA2ACLI_TRANSPORT=jsonrpc`],
    ['no verification', (url) => `A2ACLI_AGENT_CARD=${url}\nA2ACLI_INSECURE=true`],
  ];
  const credentials: readonly (readonly [string, object])[] = [
    ['the environment', { env: { A2ACLI_BEARER: 's3cret' } }],
    ['the command line', { flags: '--bearer s3cret' }],
    ['the global file', { global: 'A2ACLI_BEARER=s3cret' }],
    ['a service parameter', { flags: '--svc-param x-key:s3cret' }],
  ];
  it.each(
    redirects.flatMap(([name, local]) =>
      credentials.map(([from, given]) => [name, from, local, given] as const),
    ),
  )(
    'cannot send to %s what comes from %s',
    async (_, __, local, {
      env,
      flags = '',
      global,
    }: { env?: Record<string, string>; flags?: string; global?: string }) => {
      const stranger = await serveSecured(bearer);
      const around = { ...inFolder(local(stranger.url), global), ...(env && { env }) };
      const { code, stderr } = await cli(`send ${flags} hello`, around);
      expect([code, stranger.seen]).toEqual([2, []]);
      expect(stderr).toMatch(/The \.env of a folder sets A2ACLI_\w+, which must not decide where .* goes/);
    },
  );

  it('may hold an agent with its own credential, or one whose credential the user keeps', async () => {
    const mine = await serveSecured(bearer);
    const own = inFolder(`A2ACLI_AGENT_CARD=${mine.url}\nA2ACLI_BEARER=local`);
    expect((await cli('send hello', own)).code).toBe(0);
    const kept = inFolder(`A2ACLI_AGENT_CARD=${mine.url}`, `A2ACLI_BEARER@${mine.url}=kept`);
    expect((await cli('send hello', kept)).code).toBe(0);
    expect(mine.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer local', 'Bearer kept']);
    const moved = inFolder(
      `A2ACLI_AGENT_CARD=${mine.url}\nA2ACLI_ENDPOINT=http://127.0.0.1:9/rpc\nA2ACLI_TRANSPORT=jsonrpc`,
      `A2ACLI_BEARER@${mine.url}=kept`,
    );
    expect((await cli('send hello', moved)).code).toBe(2);
  });

  it('decides nothing when the user names the agent, and counts when the user names the file', async () => {
    const [mine, stranger] = [await serveSecured(bearer), await serveSecured(bearer)];
    const around = { ...inFolder(`A2ACLI_AGENT_CARD=${stranger.url}`), env: { A2ACLI_BEARER: 's3cret' } };
    expect((await cli(`send -a ${mine.url} hello`, around)).code).toBe(0);
    expect(stranger.seen).toEqual([]);
    expect((await cli(`send --config ${around.cwd}/.env hello`, around)).code).toBe(0);
    expect(stranger.seen).toHaveLength(1);
  });

  it('neither names the authorization server of a login nor turns verification off for a kept token', async () => {
    const [server, stranger] = [await serveAuthorization(), await serveAuthorization()];
    const agent = await serveSecured(grant(`${server.url}/token`));
    const { home } = await logIn(agent.url, `--authorization-server ${server.url}/token`);
    const folder = (local: string) => ({ home, cwd: inFolder(local).cwd });
    const named = folder(`A2ACLI_AUTHORIZATION_SERVER=${stranger.url}/token`);
    expect((await cli(`auth login -a ${agent.url} --client-id tool`, named)).stderr).toContain(
      'a login goes',
    );
    expect(stranger.forms).toEqual([]);
    const weak = await cli(`send -a ${agent.url} hello`, folder('A2ACLI_INSECURE=true'));
    expect([weak.code, weak.stderr]).toEqual([2, expect.stringContaining('the token of auth login goes')]);
    expect(agent.seen).toEqual([]);
  });
});
