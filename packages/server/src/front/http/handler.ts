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
  PREVIEW_VERSION,
  PROTOCOL_VERSION,
  parseVersion,
} from '@batonjs/protocol/headers';
import type { Caller } from '../../agent/caller.ts';
import type { Logger } from '../../base/hooks/logger.ts';
import { type RequestWatch, shownCaller } from '../../base/hooks/request-watch.ts';
import { type RequestSpan, runIn } from '../../base/hooks/telemetry.ts';
import type { Dependencies } from '../../operations/call/call-context.ts';
import { toWireError } from '../../operations/call/wire-error.ts';
import { credentialHeaders, withChallenge } from '../../operations/card/security.ts';
import type { CardMount } from '../../operations/card/served-cards.ts';
import { checkTenant } from '../../operations/card/tenants.ts';
import { type Answer, type AnsweringParts, answerCall, type DecodedCall } from '../calls/answer-call.ts';
import { inSpan, REQUEST_ID, requestIdOf } from '../calls/call-target.ts';
import { admittedCaller } from '../calls/caller-limits.ts';
import { browserPage } from '../pages/browser-page.ts';
import { cardReply, extendedCardReply } from './card-reply.ts';
import { type Handle, type HttpExchange, isLarge, readBody } from './request-body.ts';
import { streamBody } from './sse-body.ts';
import { withWatch } from './watched-handle.ts';

/** How requests are read, by the bindings and the other versions of the protocol, and answered. */
export interface HttpOptions extends AnsweringParts {
  readonly bindings: readonly [ServerBinding, ...ServerBinding[]];
  readonly compatibility: readonly ServerCompatibility[];
  readonly watch: RequestWatch;
  /** Finds out who calls, where that is not to be asked of each request. */
  readonly ask?: DecodedCall['ask'];
}

/** Answers requests: picks the binding, which decodes them and encodes their answers. Spec: §5, §3.3. */
export function createHandler(http: HttpOptions): Handle {
  const { bindings, admission, dependencies } = http;
  const { logger } = dependencies;
  const servedVersions = bindings.map(({ version }) => version);
  return withWatch(async (exchange, seen) => {
    const mount = cardMountOf(exchange, http);
    if (mount) return publicCard(exchange, mount, http);
    const requestId = requestIdOf(exchange.headers, dependencies.clock);
    let request = withoutBody(exchange);
    const candidates = bindings.filter((binding) => binding.matches(request));
    const of = (wanted: string) =>
      candidates.find(({ version }) => version === wanted) ?? candidates[0] ?? bindings[0];
    let binding = of(statedVersion(request) ?? IMPLIED_VERSION);
    let span: RequestSpan | undefined;
    try {
      if (exchange.refusal) throw exchange.refusal;
      let asked: Promise<Caller | undefined> | undefined;
      const ask = () => (asked ??= shownCaller(http.ask?.() ?? admittedCaller(exchange, admission), seen));
      if (isLarge(exchange)) await ask();
      request = {
        ...request,
        body: await readBody(exchange, { options: dependencies.options, logger, requestId, ask }),
      };
      const stated = statedVersion(request) ?? impliedVersion(request, http);
      const wanted = dependencies.options.preview && stated === PREVIEW_VERSION ? PROTOCOL_VERSION : stated;
      binding = of(wanted);
      const { call, readCall, isLost } = decode(binding, request, exchange, dependencies);
      seen?.named({ operation: call?.operation, binding: binding.name, version: wanted });
      span = call && startSpan(dependencies, call, binding, exchange, wanted);
      const { headers, signal, baseUrl } = exchange;
      const { version } = binding;
      const decoded: DecodedCall = {
        call,
        readCall,
        version,
        // A request that is at no mount is there in no version.
        statedVersion: isLost ? version : stated,
        servedVersions,
        ask,
        head: exchange,
        headers,
        signal,
        baseUrl,
        requestId,
        span,
      };
      const answer = await (span ? inSpan(span, decoded, http) : answerCall(decoded, http));
      // Without a call, none was answered.
      const reply = replyTo(call!, answer, binding, exchange, dependencies);
      if (answer.extensions.length > 0)
        reply.headers[(binding.extensionsHeader ?? A2A_EXTENSIONS).toLowerCase()] =
          answer.extensions.join(', ');
      return privately(reply, requestId);
    } catch (error) {
      const { method, path } = exchange;
      const wire = runIn(span, () => toWireError(error, dependencies.logger, { requestId, method, path }));
      span?.end(wire);
      return privately(binding.encodeError(withChallenge(wire, dependencies.card), request), requestId);
    }
  }, http.watch);
}

/** Names the request, and marks its reply as not for shared caches, unless it names its own caching. */
function privately(reply: HttpReply, requestId: string): HttpReply {
  reply.headers[REQUEST_ID] = requestId;
  reply.headers['cache-control'] ??= 'no-store';
  return reply;
}

/** The card that a request asks for: the agent's, or that of one tenant. Undefined for other requests. */
function cardMountOf(exchange: HttpExchange, { tenants }: HttpOptions): CardMount | undefined {
  const { path, baseUrl } = exchange;
  if (path === AGENT_CARD_PATH || isForBrowser(exchange)) return { baseUrl };
  if (!tenants || !path.endsWith(AGENT_CARD_PATH)) return undefined;
  const tenant = path.slice(1, -AGENT_CARD_PATH.length);
  return tenant === '' || tenant.includes('/') ? undefined : { baseUrl, tenant };
}

async function publicCard(
  exchange: HttpExchange,
  { baseUrl, tenant: encoded }: CardMount,
  { dependencies, bindings, compatibility, tenants }: HttpOptions,
): Promise<HttpReply> {
  const { logger, cards, clock } = dependencies;
  const { method, path } = exchange;
  try {
    if (exchange.refusal) throw exchange.refusal;
    if (method !== 'GET' && method !== 'HEAD')
      throw new A2AError('METHOD_NOT_ALLOWED', undefined, { metadata: { allow: 'GET, HEAD' } });
    const tenant = encoded && decodePath(encoded);
    await checkTenant(tenant, undefined, tenants);
    const card = await cards.public({ baseUrl, tenant });
    if (isForBrowser(exchange))
      return privately(browserPage(card, exchange.method), requestIdOf(exchange.headers, clock));
    const version = statedVersion(exchange);
    const older = compatibility.map((other) => other.encodeCard(card, version)).find(Boolean);
    return cardReply(older ?? card, exchange);
  } catch (error) {
    const plain = bindings.find(({ name }) => name === 'HTTP+JSON') ?? bindings[0];
    const requestId = requestIdOf(exchange.headers, clock);
    const wire = toWireError(error, logger, { requestId, method, path });
    return privately(plain.encodeError(wire, withoutBody(exchange)), requestId);
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

/** The span of a call; undefined without telemetry. */
const startSpan = (
  { telemetry, card, cards }: Dependencies,
  { operation, params }: ReceivedCall,
  { name: binding }: ServerBinding,
  { headers, baseUrl, remoteAddress }: HttpExchange,
  version: string,
) =>
  telemetry?.request({
    operation,
    card,
    params,
    headers,
    version,
    binding,
    baseUrl: cards.addressOf(binding, { baseUrl }),
    remoteAddress,
  });

interface Decoded {
  readonly call?: ReceivedCall;
  /** Throws why there is no call, which only an authenticated caller may know. */
  readonly readCall?: () => never;
  /** Whether nothing is there, perhaps because of the mount, or because the sender looks for the card. */
  readonly isLost?: boolean;
}

/** Reasons that are answered before the caller is authenticated. */
const transportReasons = new Set([
  'PARSE_ERROR',
  'INVALID_REQUEST',
  // Of the header here: the parts of a message are looked at later.
  'CONTENT_TYPE_NOT_SUPPORTED',
  'UNSUPPORTED_MEDIA_TYPE',
  'METHOD_NOT_ALLOWED',
]);

function decode(
  binding: ServerBinding,
  request: HttpRequest,
  exchange: HttpExchange,
  { logger }: Dependencies,
): Decoded {
  try {
    return { call: binding.decodeCall(request) };
  } catch (error) {
    if (A2AError.is(error) && transportReasons.has(error.reason)) throw error;
    const isMountUnknown = isBelowUnknownMount(exchange, error);
    const isStray = isOfNoClient(exchange, error) && statedVersion(request) === undefined;
    return {
      isLost: isMountUnknown || isStray,
      readCall: () => {
        throw isMountUnknown ? unknownMount(exchange, logger) : isStray ? strayRequest() : error;
      },
    };
  }
}

/** The version that a request names; the header wins over the query. Spec: §3.6. */
function statedVersion({ headers, query }: Pick<HttpRequest, 'headers' | 'query'>): string | undefined {
  const inQuery =
    query.size > 0 ? [...query].find(([name]) => name.toLowerCase() === 'a2a-version')?.[1] : undefined;
  return parseVersion(headers['a2a-version']) ?? parseVersion(inQuery);
}

const impliedVersion = (request: HttpRequest, { compatibility }: HttpOptions): string =>
  compatibility.map((other) => other.impliedVersion(request)).find(Boolean) ?? IMPLIED_VERSION;

function replyTo(
  call: ReceivedCall,
  answer: Answer,
  binding: ServerBinding,
  exchange: HttpExchange,
  { card, clock, options }: Dependencies,
): HttpReply {
  if ('stream' in answer) {
    const body = streamBody({ ...answer, binding, call, clock, heartbeatMs: options.streams.heartbeatMs });
    return { status: 200, headers: { ...sseHeaders }, body };
  }
  const encoded = binding.encodeResult(call, answer.result);
  if (call.operation !== 'GetExtendedAgentCard') return encoded;
  return extendedCardReply(encoded, exchange, credentialHeaders(card));
}

/** Whether a person opened the address of the agent in a browser. No client of A2A asks for `text/html`. */
const isForBrowser = ({ method, path, headers }: HttpExchange): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (path === '' || path === '/') &&
  (headers.accept?.toLowerCase().includes('text/html') ?? false);

/** Whether nothing is at a path: a person, a monitor or an old client asks, perhaps for the card. */
const isOfNoClient = ({ path }: HttpExchange, error: unknown): boolean =>
  path.length > 1 && A2AError.is(error, 'METHOD_NOT_FOUND');

/** The error for such a request. It does not repeat the path: a link may stand there, with its secret. */
const strayRequest = (): A2AError =>
  new A2AError(
    'METHOD_NOT_FOUND',
    `Method not found: nothing is at this path; the card of the agent is at ${AGENT_CARD_PATH}`,
  );

/** Whether a request found nothing, perhaps because its adapter did not remove the path of the mount. */
const isBelowUnknownMount = (exchange: HttpExchange, error: unknown): boolean =>
  exchange.isMountUnknown === true && isOfNoClient(exchange, error);

/** The error for such a request. The first one on each log is also logged. */
function unknownMount({ path }: HttpExchange, logger: Logger): A2AError {
  const remedy = '`server.fetch` below a path needs a `publicUrl` with that path';
  if (!logged.has(logger)) logger('warn', `Nothing is at the path of a request: ${remedy}`, { path });
  logged.add(logger);
  return new A2AError('METHOD_NOT_FOUND', `Method not found: nothing is at ${path.slice(0, 200)}; ${remedy}`);
}

const logged = new WeakSet<Logger>();
