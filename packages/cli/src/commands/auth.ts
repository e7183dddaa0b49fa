import { type Command, Option } from 'commander';
import { confirmedServer, type LoginFlow } from '../connection/authorization-server.ts';
import { requestToken } from '../connection/login.ts';
import { namedOrigin, originAt, readCard } from '../connection/open-agent.ts';
import { tlsFetch, tlsFiles } from '../connection/tls.ts';
import { usage } from '../errors/cli-error.ts';
import { addAgentFlags, addExample, type CommonOptions } from '../flags/agent-flags.ts';
import type { Run } from '../run.ts';
import type { RunContext } from '../run-context.ts';
import { keepToken } from '../settings/tokens.ts';

interface LoginFlags extends CommonOptions {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly authorizationServer?: string;
  readonly scope?: string;
  readonly flow?: LoginFlow;
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
    requestToken(
      {
        ...confirmed,
        clientId,
        clientSecret,
        agent: origin,
        wanted: options.flow,
        send: tlsFetch(tlsFiles(options, io.cwd), options.insecure ?? false) ?? fetch,
        showDeviceCode: ({ userCode, verificationUri, verificationUriComplete }) =>
          output.note(`Open ${verificationUriComplete ?? verificationUri} and enter the code ${userCode}`),
      },
      signal,
    ),
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
