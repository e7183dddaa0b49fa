import {
  type HttpReply,
  type HttpRequest,
  type ReceivedCall,
  type ServerBinding,
  type ServerCompatibility,
  sseHeaders,
} from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import {
  A2A_EXTENSIONS,
  AGENT_CARD_PATH,
  IMPLIED_VERSION,
  LEGACY_EXTENSIONS,
  parseExtensions,
  parseVersion,
} from '@batonjs/protocol/headers';
import { operations } from '@batonjs/protocol/operations';
import { parseParams } from '@batonjs/protocol/parse-params';
import type { Caller } from '../agent/caller.ts';
import { credentialHeaders, withChallenge } from '../card/security.ts';
import type { CardMount } from '../card/served-cards.ts';
import { EventStream } from '../log/event-stream.ts';
import { type CallContext, scopeOf } from '../operations/call/call-context.ts';
import type { Dependencies } from '../operations/call/dependencies.ts';
import { toWireError } from '../operations/call/wire-error.ts';
import { type AnyOperation, service } from '../operations/operations.ts';
import { type Authenticate, checkCaller } from './authenticate.ts';
import { cardReply, extendedCardReply } from './card-reply.ts';
import type { Handle, HttpExchange } from './http-exchange.ts';
import { isLarge, readBody } from './request-body.ts';
import { streamBody } from './sse-body.ts';
import { checkTenant, type Tenants } from './tenants.ts';
import { isBelowUnknownMount, unknownMount } from './unknown-mount.ts';

/** How requests are read: the bindings, the other versions of the protocol, the callers and the tenants. */
export interface HttpOptions {
  readonly bindings: readonly [ServerBinding, ...ServerBinding[]];
  readonly compatibility: readonly ServerCompatibility[];
  readonly authenticate: Authenticate | undefined;
  readonly tenants: Tenants | undefined;
}

/**
 * Answers requests: picks the binding, checks in the protocol's order, calls the operation, encodes. Spec: §5, §3.3.
 */
export function createHandler(dependencies: Dependencies, http: HttpOptions): Handle {
  const { bindings, authenticate } = http;
  return async (exchange) => {
    const mount = cardMountOf(exchange, http);
    if (mount) return publicCard(exchange, mount, dependencies, http);
    let request = withoutBody(exchange);
    const candidates = bindings.filter((binding) => binding.matches(request));
    const of = (wanted: string) =>
      candidates.find(({ version }) => version === wanted) ?? candidates[0] ?? bindings[0];
    let binding = of(statedVersion(request) ?? IMPLIED_VERSION);
    try {
      if (exchange.refusal) throw exchange.refusal;
      let asked: Promise<Caller | undefined> | undefined;
      const ask = () => (asked ??= callerOf(exchange, authenticate));
      if (isLarge(exchange)) await ask();
      request = {
        ...request,
        body: await readBody(exchange, dependencies.options.limits, dependencies.log, ask),
      };
      const version = statedVersion(request) ?? impliedVersion(request, http);
      binding = of(version);
      const decoded = decode(binding, request);
      const caller = await ask();
      if (isBelowUnknownMount(exchange, decoded.error)) throw unknownMount(exchange, dependencies.log);
      if (version !== binding.version) throw versionNotSupported(version, http);
      const context = contextOf(exchange, decoded.call, caller, version, dependencies);
      const { call } = decoded;
      if (!call) throw decoded.error;
      checkCapability(call, dependencies);
      checkExtensions(context, dependencies);
      const reply = await perform(call, context, binding, exchange, dependencies, http.tenants);
      if (context.extensions.length > 0)
        reply.headers[(binding.extensionsHeader ?? A2A_EXTENSIONS).toLowerCase()] =
          context.extensions.join(', ');
      return privately(reply);
    } catch (error) {
      const { method, path } = exchange;
      const wire = toWireError(error, dependencies.log, { method, path });
      return privately(binding.encodeError(withChallenge(wire, dependencies.card), request));
    }
  };
}

/** Marks a reply to one caller as not for shared caches, unless it names its own caching. */
function privately(reply: HttpReply): HttpReply {
  reply.headers['cache-control'] ??= 'no-store';
  return reply;
}

/** The card that a request asks for: the agent's, or that of one tenant. Undefined for other requests. */
function cardMountOf({ path, baseUrl }: HttpExchange, { tenants }: HttpOptions): CardMount | undefined {
  if (path === AGENT_CARD_PATH) return { baseUrl };
  if (!tenants || !path.endsWith(AGENT_CARD_PATH)) return undefined;
  const tenant = path.slice(1, -AGENT_CARD_PATH.length);
  return tenant === '' || tenant.includes('/') ? undefined : { baseUrl, tenant };
}

async function publicCard(
  exchange: HttpExchange,
  { baseUrl, tenant: encoded }: CardMount,
  { log, cards }: Dependencies,
  { bindings, compatibility, tenants }: HttpOptions,
): Promise<HttpReply> {
  const { method, path } = exchange;
  try {
    if (exchange.refusal) throw exchange.refusal;
    if (method !== 'GET' && method !== 'HEAD') {
      throw new A2AError('METHOD_NOT_ALLOWED', undefined, { metadata: { allow: 'GET, HEAD' } });
    }
    const tenant = encoded && decodePath(encoded);
    await checkTenant(tenant, undefined, tenants);
    const card = await cards.public({ baseUrl, tenant });
    const version = statedVersion(exchange);
    const older = compatibility.map((other) => other.encodeCard(card, version)).find(Boolean);
    return cardReply(older ?? card, exchange);
  } catch (error) {
    const plain = bindings.find(({ name }) => name === 'HTTP+JSON') ?? bindings[0];
    return privately(plain.encodeError(toWireError(error, log, { method, path }), withoutBody(exchange)));
  }
}

function decodePath(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new A2AError('METHOD_NOT_FOUND');
  }
}

const withoutBody = ({ method, path, query, headers }: HttpExchange): HttpRequest => ({
  method,
  path,
  query,
  headers,
});

interface Decoded {
  readonly call?: ReceivedCall;
  /** Why there is no call, if only an authenticated caller may know. */
  readonly error?: unknown;
}

/** Reasons that are answered before the caller is authenticated. */
const transportReasons = new Set([
  'PARSE_ERROR',
  'INVALID_REQUEST',
  'UNSUPPORTED_MEDIA_TYPE',
  'METHOD_NOT_ALLOWED',
]);

function decode(binding: ServerBinding, request: HttpRequest): Decoded {
  try {
    return { call: binding.decodeCall(request) };
  } catch (error) {
    if (A2AError.is(error) && transportReasons.has(error.reason)) throw error;
    return { error };
  }
}

async function callerOf(
  exchange: HttpExchange,
  authenticate: Authenticate | undefined,
): Promise<Caller | undefined> {
  const caller = await authenticate?.(exchange);
  if (authenticate && !caller) throw new A2AError('UNAUTHENTICATED');
  return caller && checkCaller(caller);
}

function contextOf(
  { headers, signal, baseUrl }: HttpExchange,
  call: ReceivedCall | undefined,
  caller: Caller | undefined,
  version: string,
  { card, options }: Dependencies,
): CallContext {
  const tenant = typeof call?.params.tenant === 'string' ? call.params.tenant : undefined;
  const declared = card.capabilities.extensions ?? [];
  const requested = parseExtensions(
    headers[A2A_EXTENSIONS.toLowerCase()],
    headers[LEGACY_EXTENSIONS.toLowerCase()],
  );
  return {
    scope: scopeOf(options.queue, tenant, caller),
    caller,
    extensions: requested.filter((uri) => declared.some((extension) => extension.uri === uri)),
    version,
    signal,
    lastEventId: call?.lastEventId ?? headers['last-event-id'],
    baseUrl,
  };
}

/** The version that a request names; the header wins over the query. Spec: §3.6. */
function statedVersion({ headers, query }: Pick<HttpRequest, 'headers' | 'query'>): string | undefined {
  const inQuery =
    query.size > 0 ? [...query].find(([name]) => name.toLowerCase() === 'a2a-version')?.[1] : undefined;
  return parseVersion(headers['a2a-version']) ?? parseVersion(inQuery);
}

const impliedVersion = (request: HttpRequest, { compatibility }: HttpOptions): string =>
  compatibility.map((other) => other.impliedVersion(request)).find(Boolean) ?? IMPLIED_VERSION;

function versionNotSupported(requestedVersion: string, { bindings }: HttpOptions): A2AError {
  const supportedVersions = [...new Set(bindings.map(({ version }) => version))].join(',');
  return new A2AError(
    'VERSION_NOT_SUPPORTED',
    `Version ${requestedVersion} is not supported here; send A2A-Version: ${supportedVersions}`,
    { metadata: { requestedVersion, supportedVersions } },
  );
}

function checkCapability({ operation }: ReceivedCall, { card }: Dependencies): void {
  const row = operations[operation];
  const capability = 'capability' in row ? row.capability : undefined;
  if (!capability || card.capabilities[capability]) return;
  throw new A2AError(
    capability === 'pushNotifications' ? 'PUSH_NOTIFICATION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION',
  );
}

function checkExtensions({ extensions }: CallContext, { card }: Dependencies): void {
  const missing = card.capabilities.extensions?.find(
    ({ uri, required }) => required && !extensions.includes(uri ?? ''),
  );
  if (!missing) return;
  throw new A2AError('EXTENSION_SUPPORT_REQUIRED', `This agent requires the extension ${missing.uri}`, {
    metadata: { extension: missing.uri },
  });
}

async function perform(
  call: ReceivedCall,
  context: CallContext,
  binding: ServerBinding,
  exchange: HttpExchange,
  dependencies: Dependencies,
  tenants: Tenants | undefined,
): Promise<HttpReply> {
  const { log, card, clock, isOpen } = dependencies;
  const { operation } = call;
  const params = parseParams(operation, call.params);
  await checkTenant(params.tenant, context.caller, tenants);
  if (!isOpen()) throw new A2AError('UNAVAILABLE', 'The server is closing', { retryAfter: 1 });
  const onError = (error: unknown) => toWireError(error, log, { operation, taskId: taskNamedIn(params) });
  try {
    const answer = (service[operation] as AnyOperation)(params, context, dependencies);
    if (!(answer instanceof EventStream)) {
      const reply = binding.encodeResult(call, await answer);
      if (operation !== 'GetExtendedAgentCard') return reply;
      return extendedCardReply(reply, exchange, credentialHeaders(card));
    }
    // Until the first event, an error is an ordinary reply and not part of a stream.
    const first = await answer.next();
    const body = streamBody({ first, stream: answer, binding, call, clock, onError });
    return { status: 200, headers: { ...sseHeaders }, body };
  } catch (error) {
    throw onError(error);
  }
}

function taskNamedIn(params: object): string | undefined {
  const { taskId, message, id } = params as { taskId?: string; message?: { taskId?: string }; id?: string };
  return taskId ?? message?.taskId ?? id;
}
