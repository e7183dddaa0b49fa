import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type ClientTransport, httpJsonClient, jsonRpcClient } from '@batonjs/bindings';
import { type AgentClient, ClientError, type ConnectOptions, connect } from '@batonjs/client';
import type { AgentCard, AgentInterface } from '@batonjs/protocol';
import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import type { CommonOptions } from '../flags/agent-flags.ts';
import type { Io } from '../io.ts';
import type { Output, Redactor } from '../output/output.ts';
import { checkKeptToken, tokenFor } from '../settings/settings.ts';
import { fileCardCache, resolveReference } from './card-reference.ts';
import { type Attachment, attach } from './credentials.ts';
import { tracedTransport, wireFetch } from './wire.ts';

/** What opening an agent needs. */
export interface OpenContext {
  readonly io: Io;
  readonly command: Command;
  readonly options: CommonOptions;
  readonly output: Output;
  readonly redactor: Redactor;
  /** The last answer over HTTP. */
  answered?: Response | undefined;
}

/** An agent that was found, with a connection over the preferred interface. */
export interface OpenAgent {
  readonly agent: AgentClient;
  /** The card as the agent serves it. */
  readonly card: AgentCard;
  readonly hasCredentials: boolean;
  /** Sends a request as those to the agent are sent. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Reads the card that the options name, without a connection. */
export async function readCard(context: OpenContext): Promise<AgentCard> {
  const { options, io } = context;
  if (options.endpoint !== undefined) return endpointCard(options);
  if (options.agentCard === undefined)
    throw usage(
      'No agent is given',
      `Give --agent-card, for example ${io.program} card get -a localhost:4000`,
    );
  const reference = resolveReference(options.agentCard, io.cwd);
  if ('card' in reference) return reference.card;
  const cards = fileCardCache(io.home);
  const read = async (withGrpc: boolean) => {
    const wire = await wireOf(context, {}, [], withGrpc);
    return (await connect(reference.url, { ...wire, cards, timeoutMs: options.timeout })).card;
  };
  // gRPC takes a while to load: only for a card that has nothing else.
  return read(false).catch((error) => {
    if (ClientError.is(error, 'NO_INTERFACE')) return read(true);
    throw error;
  });
}

/** Reads the card and connects. Throws `CREDENTIALS_MISSING` before anything is sent. */
export async function openAgent(context: OpenContext): Promise<OpenAgent> {
  const { options, output } = context;
  const card = await readCard(context);
  const origin = namedOrigin(context) ?? originOf(card);
  const kept = keptToken(context, origin);
  const stored = onlyAt(card, origin).supportedInterfaces.length > 0 ? kept : undefined;
  if (kept !== stored)
    output.warn(`The card names no interface at ${origin}: the token of auth login is not sent`);
  const bearer = options.bearer ?? stored;
  const hasCertificate = options.tlsCert !== undefined;
  const attachment = options.endpoint
    ? endpointAttachment(options, bearer)
    : attach(card, { bearer, apiKey: options.apiKey, hasCertificate });
  if (attachment.isUnused && stored === undefined)
    output.warn(`${card.name} declares no scheme for this credential: it is not sent`);
  const hasCredentials = Object.keys({ ...attachment.headers, ...attachment.query }).length > 0;
  // A token of another agent must not go where a card sends it.
  const isStored = stored !== undefined && attachment.headers.authorization !== undefined;
  const chosen = preferring(isStored ? onlyAt(card, origin) : card, options.transport ?? []);
  const origins = chosen.supportedInterfaces.flatMap(({ url }) =>
    URL.canParse(url) ? [new URL(url).origin] : [],
  );
  warnOf(options, chosen.supportedInterfaces[0]?.url, hasCredentials, output);
  const wire = await wireOf(context, attachment.query, origins, needsGrpc(chosen));
  const agent = await connect(chosen, {
    ...wire,
    timeoutMs: options.timeout,
    headers: { ...options.svcParam, ...attachment.headers },
    extensions: requiredExtensions(card),
  });
  output.debug(
    `uses ${agent.interface.protocolBinding} ${agent.interface.protocolVersion} at ${agent.interface.url}`,
  );
  return { agent, card, hasCredentials, fetch: wire.fetch };
}

/** Warns where a connection is not verified. */
export function warnOf(
  { insecure }: CommonOptions,
  url: string | undefined,
  hasCredentials: boolean,
  output: Output,
) {
  if (insecure) output.warn('TLS certificates are not verified (--insecure)');
  if (hasCredentials && (insecure || url?.startsWith('http://')))
    output.warn('A CREDENTIAL IS SENT OVER A CONNECTION THAT IS NOT VERIFIED');
}

/** The token of `auth login` for the origin, if there is no other. */
export function keptToken(
  { options, io, command, redactor }: OpenContext,
  origin: string,
): string | undefined {
  const token = options.bearer === undefined ? tokenFor(io.home, origin)?.accessToken : undefined;
  if (token !== undefined) checkKeptToken(command);
  redactor.hide(token);
  return token;
}

/** Whether gRPC is preferred, or the only binding. */
const needsGrpc = ({ supportedInterfaces }: AgentCard): boolean =>
  supportedInterfaces.find(({ protocolBinding }) =>
    ['JSONRPC', 'HTTP+JSON', 'GRPC'].includes(protocolBinding),
  )?.protocolBinding === 'GRPC';

/** The bindings, the `fetch` and the version that the options ask for. */
export async function wireOf(
  context: OpenContext,
  query: Attachment['query'],
  origins: readonly string[],
  withGrpc: boolean,
): Promise<ConnectOptions & Pick<OpenAgent, 'fetch'>> {
  const { options, io, output } = context;
  const files = tlsFiles(options, io.cwd);
  const trace = options.debug ? (line: string) => output.debug(line) : undefined;
  const send = tlsFetch(files, options.insecure ?? false) ?? ((request: Request) => fetch(request));
  const wired = wireFetch({ query, origins: new Set(origins), send, trace });
  const grpc = withGrpc ? [tracedTransport(await grpcOf(options, files), trace)] : [];
  return {
    fetch: async (request) => (context.answered = await wired(request)),
    bindings: [jsonRpcClient, httpJsonClient, ...grpc],
    ...(await versionOf(options.a2aVersion)),
    headers: options.svcParam,
  };
}

async function grpcOf({ insecure = false }: CommonOptions, tls: TlsFiles): Promise<ClientTransport> {
  const { grpcClient } = await import('@batonjs/bindings-grpc');
  return grpcClient({ plaintext: insecure, tls: { ...tls, rejectUnauthorized: !insecure } });
}

/** The highest version of 1.x that both know; one below 1.0 only if the user names it. */
async function versionOf(
  version: string | undefined,
): Promise<Pick<ConnectOptions, 'version' | 'compatibility'>> {
  if (version === undefined || /^1(\.\d+){0,2}$/.test(version)) return { version: '1.0' };
  if (!/^0\.3(\.\d+)?$/.test(version))
    throw usage(`Version ${version} is not supported`, 'There are 1.0 and 0.3');
  const { v03Client } = await import('@batonjs/bindings-v0-3');
  return { version: '0.3', compatibility: [v03Client()] };
}

/** The card with the preferred bindings first. One that the card lacks is skipped. */
function preferring(card: AgentCard, bindings: readonly string[]): AgentCard {
  const rank = ({ protocolBinding }: AgentInterface) => {
    const at = bindings.indexOf(protocolBinding);
    return at === -1 ? bindings.length : at;
  };
  return {
    ...card,
    supportedInterfaces: [...card.supportedInterfaces].sort((one, other) => rank(one) - rank(other)),
  };
}

/** The card with the interfaces at one origin only. */
const onlyAt = (card: AgentCard, origin: string): AgentCard => ({
  ...card,
  supportedInterfaces: card.supportedInterfaces.filter(({ url }) => originAt(url) === origin),
});

/** An agent without a card: it is asked for everything. */
function endpointCard({ endpoint, transport = [], a2aVersion }: CommonOptions): AgentCard {
  if (transport.length !== 1) throw usage('--endpoint needs exactly one --transport');
  const protocolVersion = a2aVersion?.startsWith('0.3') ? '0.3' : '1.0';
  return {
    name: endpoint!,
    description: '',
    version: '',
    supportedInterfaces: [{ url: endpoint!, protocolBinding: transport[0]!, protocolVersion }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
  };
}

/** Without a card, a credential goes where most agents look for it. */
export const endpointAttachment = ({ apiKey }: CommonOptions, bearer: string | undefined): Attachment => ({
  headers: {
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
  },
  query: {},
  isUnused: false,
});

/** An agent may refuse clients that do not declare the extensions that it requires. */
const requiredExtensions = ({ capabilities }: AgentCard): string[] =>
  (capabilities?.extensions ?? []).flatMap(({ uri, required }) => (required ? [uri] : []));

/**
 * The origin of the agent as the user named it, whatever its card says: tokens of `auth login` are kept for it. Undefined
 * for a card in a file.
 */
export function namedOrigin({ options, io }: Pick<OpenContext, 'options' | 'io'>): string | undefined {
  if (options.endpoint !== undefined) return originAt(options.endpoint);
  if (options.agentCard === undefined) return undefined;
  const reference = resolveReference(options.agentCard, io.cwd);
  return 'url' in reference ? originAt(reference.url) : undefined;
}

const originOf = ({ supportedInterfaces: [first] }: AgentCard): string => originAt(first?.url ?? '');

/** The origin of an interface; addresses of gRPC stand for themselves. */
export const originAt = (url: string): string =>
  URL.canParse(url) && new URL(url).origin !== 'null' ? new URL(url).origin : url;

/** Certificates in PEM. */
type TlsFiles = ReturnType<typeof tlsFiles>;

/** Reads the certificates that the flags name. Throws if a file cannot be read or used, or a certificate has no key. */
export function tlsFiles({ tlsCert, tlsKey, tlsCa }: CommonOptions, cwd: string) {
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usage('--tls-cert and --tls-key belong together');
  const read = (path: string) => {
    try {
      return readFileSync(resolve(cwd, path), 'utf8');
    } catch {
      throw usage(`The file ${path} cannot be read`);
    }
  };
  const files = {
    ...(tlsCert !== undefined && { cert: read(tlsCert) }),
    ...(tlsKey !== undefined && { key: read(tlsKey) }),
    ...(tlsCa !== undefined && { ca: read(tlsCa) }),
  };
  try {
    createSecureContext(files);
  } catch (error) {
    const names = [tlsCert, tlsKey, tlsCa].filter((path) => path !== undefined).join(', ');
    throw usage(`The certificates and keys of ${names} cannot be used: ${(error as Error).message}`);
  }
  return files;
}

/** A `fetch` with certificates of its own, or without verification. Undefined if the usual one does. */
export function tlsFetch(
  files: TlsFiles,
  insecure: boolean,
): ((request: Request) => Promise<Response>) | undefined {
  if (!insecure && Object.keys(files).length === 0) return undefined;
  // Loaded only for those who need it: it takes a while.
  const loading = import('undici').then(({ Agent, fetch }) => ({
    fetch,
    dispatcher: new Agent({
      connect: { ...files, rejectUnauthorized: !insecure },
      // The deadlines of the client count.
      headersTimeout: 0,
      bodyTimeout: 0,
    }),
  }));
  return async (request) => {
    const { fetch: fetchWith, dispatcher } = await loading;
    const { method, headers, signal, redirect } = request;
    const body = request.body ? await request.text() : undefined;
    const init = {
      method,
      headers: [...headers],
      signal,
      redirect,
      dispatcher,
      ...(body !== undefined && { body }),
    };
    // The same class in another copy of the library.
    return (await fetchWith(request.url, init)) as unknown as Response;
  };
}
