import { once } from 'node:events';
import type { DeviceCode, OAuthError, StoredToken } from '@batonjs/oauth';
import { type Command, Option } from 'commander';
import { type ConfirmedServer, confirmedServer, type LoginFlow } from '../connection/authorization-server.ts';
import { namedOrigin, originAt, readCard, tlsFetch, tlsFiles } from '../connection/open-agent.ts';
import { CliError, type CliErrorCode, usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run, RunContext } from '../run-context.ts';
import { keepToken } from '../settings/settings.ts';

type LoginFlags = CommonOptions<'clientId' | 'clientSecret' | 'authorizationServer' | 'scope'> & {
  readonly flow?: LoginFlow;
};

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
    .option(
      '--authorization-server <url>',
      'the issuer or token URL that may be asked; default: only one at the origin of the agent',
    )
    .option('--scope <scopes>', 'scopes with spaces between them; default: those of the card')
    .addOption(new Option('--flow <flow>', 'how').choices(['device', 'client-credentials']));
  addExample(
    addAgentFlags(login),
    'auth login -a agent.example.com --client-id my-tool \\\n      --authorization-server https://id.example.com',
  ).action(run<LoginFlags>(logIn));
}

async function logIn(context: RunContext<LoginFlags>): Promise<void> {
  const { options, output, io, redactor } = context;
  const { clientId, clientSecret, scope } = options;
  redactor.hide(clientSecret);
  if (clientId === undefined) throw usage('--client-id is missing');
  const origin = namedOrigin(context);
  if (origin === undefined)
    throw usage('A file does not say which agent gets the token', 'Give the address of the agent');
  const card = await readCard(context);
  const confirmed = confirmedServer(card, {
    origin,
    confirmed: options.authorizationServer,
    flow: options.flow,
    scopes: scope?.split(' ').filter(Boolean),
  });
  if (!card.supportedInterfaces.some(({ url }) => originAt(url) === origin))
    throw usage(
      `The card names no interface at ${origin}, and the token would be sent nowhere else`,
      'Give --bearer with a token, if another origin may have it',
    );
  const token = await context.waiting((signal) =>
    requestToken(context, { ...confirmed, clientId, agent: origin }, signal),
  );
  redactor.hide(token.accessToken);
  const expiresAt = token.expiresAt === undefined ? undefined : new Date(token.expiresAt).toISOString();
  const path = keepToken(io.home, origin, { accessToken: token.accessToken, expiresAt });
  output.result({ agent: card.name, origin, expiresAt: expiresAt ?? null }, [
    ['Agent', card.name],
    ['Origin', origin],
    ['Expires', expiresAt ?? 'unknown'],
    ['Kept In', path],
  ]);
}

/** Who asks for a token, of whom, and for which agent. */
interface LoginRequest extends ConfirmedServer {
  readonly clientId: string;
  /** An address of the agent, to whose origin the token will be sent. */
  readonly agent: string;
}

/** Gets a token of the confirmed server alone. Rejects with a `CliError`, or with the reason of the signal. */
async function requestToken(
  { options, io, output }: RunContext<LoginFlags>,
  { clientId, server, card, agent, flow = options.flow }: LoginRequest,
  signal: AbortSignal,
): Promise<StoredToken> {
  const { clientSecret, insecure = false } = options;
  const { oauth, OAuthError } = await import('@batonjs/oauth');
  const send = tlsFetch(tlsFiles(options, io.cwd), insecure) ?? fetch;
  const showDeviceCode = ({ userCode, verificationUri, verificationUriComplete }: DeviceCode) =>
    output.note(`Open ${verificationUriComplete ?? verificationUri} and enter the code ${userCode}`);
  let token: StoredToken | undefined;
  const isByDevice = flow === 'device' || (flow === undefined && clientSecret === undefined);
  const credentials = attempt(server, () =>
    oauth({
      clients: { [server]: { clientId, ...(clientSecret !== undefined && { clientSecret }) } },
      ...(isByDevice && { showDeviceCode }),
      fetch: (each) => send(new Request(each, { signal: AbortSignal.any([each.signal, signal]) })),
      store: {
        get: () => undefined,
        set: (_, kept) => {
          token = kept;
        },
        delete: () => {},
      },
    }),
  );
  const left = new AbortController();
  try {
    const asked = credentials({ url: agent, isTrusted: true, card });
    await Promise.race([asked, once(signal, 'abort', { signal: left.signal })]);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OAuthError) throw toCliError(error);
    throw error;
  } finally {
    left.abort();
  }
  signal.throwIfAborted();
  if (!token) throw new CliError('A2ACLI_ERR_AUTH_FAILED', `${server} gives no token`);
  return token;
}

/** Makes the credentials, which refuse a server to which no secret may travel. */
function attempt<T>(server: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const why = `The authorization server ${server} is neither https nor on this machine`;
    throw new CliError('A2ACLI_ERR_CARD_INVALID', why, undefined, cause);
  }
}

const codes: Readonly<Record<OAuthError['code'], CliErrorCode>> = {
  NO_CLIENT: 'A2ACLI_ERR_USAGE',
  NO_FLOW: 'A2ACLI_ERR_USAGE',
  SCOPE_NOT_ALLOWED: 'A2ACLI_ERR_USAGE',
  NOT_TRUSTED: 'A2ACLI_ERR_CARD_INVALID',
  INSECURE_URL: 'A2ACLI_ERR_CARD_INVALID',
  METADATA: 'A2ACLI_ERR_CARD_INVALID',
  REFUSED: 'A2ACLI_ERR_AUTH_FAILED',
  INVALID_ANSWER: 'A2ACLI_ERR_UNREACHABLE',
  NETWORK: 'A2ACLI_ERR_UNREACHABLE',
};

/** What users see of an error of the authorization server. */
export function toCliError(error: OAuthError): CliError {
  const { code, message } = error;
  if (code === 'NO_FLOW') return usage(message, 'Give --client-secret, best as A2ACLI_CLIENT_SECRET');
  const shown = message.replace(/ is not in `clients`$/, ' is not the one of --authorization-server');
  return new CliError(codes[code], shown, undefined, error);
}
