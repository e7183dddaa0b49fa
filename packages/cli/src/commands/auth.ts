import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentCard } from '@batonjs/protocol';
import { type Command, Option } from 'commander';
import { readCard } from '../connection/open-agent.ts';
import { tlsFetch, tlsFiles } from '../connection/tls.ts';
import { CliError, usage } from '../errors/cli-error.ts';
import { addAgentFlags, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { keepToken } from '../settings/tokens.ts';

interface LoginFlags extends CommonOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  readonly flow?: 'device' | 'client-credentials';
}

/** The addresses of an authorization server that the card names. */
interface Addresses {
  readonly tokenUrl: string;
  readonly deviceUrl: string | undefined;
  readonly scopes: readonly string[];
}

interface TokenAnswer {
  readonly access_token?: string;
  readonly expires_in?: number;
  readonly error?: string;
  readonly error_description?: string;
}

export function addAuth(program: Command, run: Run): void {
  const auth = program.command('auth').description('get and keep tokens');
  const login = auth
    .command('login')
    .description('get a token as the card of the agent says, and keep it for this agent')
    .option('--client-id <id>', 'the client at the authorization server')
    .option(
      '--client-secret <secret>',
      'its secret; other users see it in the process table: prefer A2ACLI_CLIENT_SECRET',
    )
    .option('--scope <scopes>', 'scopes with spaces between them; default: those of the card')
    .addOption(new Option('--flow <flow>', 'how').choices(['device', 'client-credentials']));
  addAgentFlags(login)
    .addHelpText('after', '\nExample:\n  $ baton auth login -a agent.example.com --client-id my-tool\n')
    .action(run<LoginFlags>(logIn));
}

async function logIn(context: RunContext<LoginFlags>): Promise<void> {
  const { options, output, io, redactor } = context;
  const { clientId, clientSecret } = options;
  redactor.hide(clientSecret);
  if (clientId === undefined) throw usage('--client-id is missing');
  const card = await readCard(context);
  const send = sender(context);
  const { tokenUrl, deviceUrl, scopes } = await addressesOf(card, send);
  const scope = options.scope ?? scopes.join(' ');
  const flow =
    options.flow ?? (deviceUrl !== undefined && clientSecret === undefined ? 'device' : 'client-credentials');
  const client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const answer = await context.waiting((signal) =>
    flow === 'device'
      ? byDevice({ ...client, scope }, { tokenUrl, deviceUrl }, context, send, signal)
      : send(tokenUrl, { ...client, grant_type: 'client_credentials', ...(scope && { scope }) }, signal),
  );
  if (answer.access_token === undefined)
    throw new CliError(
      'A2ACLI_ERR_AUTH_FAILED',
      `The authorization server refuses: ${answer.error_description ?? answer.error ?? 'no token'}`,
    );
  redactor.hide(answer.access_token);
  const expires =
    answer.expires_in === undefined ? undefined : new Date(Date.now() + answer.expires_in * 1_000);
  const [{ url } = { url: '' }] = card.supportedInterfaces;
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  const path = keepToken(io.home, origin, {
    accessToken: answer.access_token,
    ...(expires && { expiresAt: expires.toISOString() }),
  });
  if (output.isJson)
    return output.json({ agent: card.name, origin, expiresAt: expires?.toISOString() ?? null });
  output.field('Agent', card.name);
  output.field('Origin', origin);
  output.field('Expires', expires?.toISOString() ?? 'unknown');
  output.field('Kept In', path);
}

type Send = (
  url: string,
  form: Readonly<Record<string, string>> | undefined,
  signal?: AbortSignal,
) => Promise<TokenAnswer & Record<string, unknown>>;

/** Posts a form, or reads a document, with the certificates of the options. */
function sender({ options, io }: RunContext<LoginFlags>): Send {
  const custom = tlsFetch(tlsFiles(options, io.cwd), options.insecure ?? false);
  return async (url, form, signal) => {
    const isLocal = /^http:\/\/(localhost|127\.|\[::1\])/.test(url);
    if (!url.startsWith('https://') && !isLocal)
      throw new CliError('A2ACLI_ERR_CARD_INVALID', `${url} of the card is no https address`);
    const request = new Request(url, {
      method: form ? 'POST' : 'GET',
      headers: {
        accept: 'application/json',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: String(new URLSearchParams(form)) }),
      ...(signal && { signal }),
      redirect: 'error',
    });
    try {
      return (await (await (custom ?? fetch)(request)).json()) as TokenAnswer & Record<string, unknown>;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new CliError('A2ACLI_ERR_UNREACHABLE', `${url} gives no usable answer`, undefined, cause);
    }
  };
}

/** The addresses in the card's OAuth 2.0 schemes, or in the discovery document of its OpenID Connect scheme. */
async function addressesOf(card: AgentCard, send: Send): Promise<Addresses> {
  for (const scheme of Object.values(card.securitySchemes ?? {})) {
    if ('oauth2SecurityScheme' in scheme && scheme.oauth2SecurityScheme) {
      const { flows } = scheme.oauth2SecurityScheme;
      const device = 'deviceCode' in flows ? flows.deviceCode : undefined;
      const client = 'clientCredentials' in flows ? flows.clientCredentials : undefined;
      const flow = device ?? client;
      if (flow)
        return {
          tokenUrl: flow.tokenUrl,
          deviceUrl: device?.deviceAuthorizationUrl,
          scopes: Object.keys(flow.scopes),
        };
    }
    if ('openIdConnectSecurityScheme' in scheme && scheme.openIdConnectSecurityScheme) {
      const found = await send(scheme.openIdConnectSecurityScheme.openIdConnectUrl, undefined);
      if (typeof found.token_endpoint !== 'string')
        throw new CliError('A2ACLI_ERR_CARD_INVALID', 'The OpenID Connect document names no token endpoint');
      const device = found.device_authorization_endpoint;
      return {
        tokenUrl: found.token_endpoint,
        deviceUrl: typeof device === 'string' ? device : undefined,
        scopes: ['openid'],
      };
    }
  }
  throw usage(`${card.name} offers no way to log in that this tool knows`, 'Give --bearer or --api-key');
}

/** The device code flow: a person confirms in a browser. Spec: RFC 8628. */
async function byDevice(
  client: Readonly<Record<string, string>>,
  { tokenUrl, deviceUrl }: Pick<Addresses, 'tokenUrl' | 'deviceUrl'>,
  { output }: RunContext<LoginFlags>,
  send: Send,
  signal: AbortSignal,
): Promise<TokenAnswer> {
  if (deviceUrl === undefined)
    throw usage('The card offers no device code', 'Give --flow client-credentials');
  const started = await send(deviceUrl, client, signal);
  const { device_code, user_code, verification_uri, verification_uri_complete } = started;
  if (typeof device_code !== 'string') return started;
  output.note(`Open ${verification_uri_complete ?? verification_uri} and enter the code ${user_code}`);
  let pauseMs = Number(started.interval ?? 5) * 1_000;
  const end = Date.now() + Number(started.expires_in ?? 600) * 1_000;
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  while (Date.now() < end) {
    await sleep(pauseMs, undefined, { signal });
    const answer = await send(tokenUrl, { ...client, grant_type, device_code }, signal);
    if (answer.error === 'slow_down') pauseMs += 5_000;
    else if (answer.error !== 'authorization_pending') return answer;
  }
  return { error: 'expired_token' };
}
