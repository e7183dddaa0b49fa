import type { OutgoingRequest } from '@batonjs/bindings';
import type { AgentCard } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION } from '@batonjs/protocol/headers';
import { askHook } from '@batonjs/protocol/hooks';
import type { OperationName } from '@batonjs/protocol/operations';
import { unlessAborted } from '@batonjs/protocol/timing';
import { sendHttp, unlimited } from '#http';
import { ClientError } from '../client-error.ts';
import type { CallOptions, CredentialsRequest, Settings } from '../options/connect-options.ts';
import type { CallSpan, CallStart, ClientTelemetry } from '../options/telemetry.ts';
import { answered, discard } from './call-deadline.ts';
import type { RetryContext } from './retries.ts';

/** What a request carries besides its own headers and body. */
export interface Context extends CallOptions {
  readonly span?: Retried | undefined;
  readonly settings: Settings;
  readonly version: string;
  readonly lastEventId?: string | undefined;
  readonly extensionsHeader?: string | undefined;
  readonly extensions: readonly string[];
  readonly signal: AbortSignal;
}

/** A request whose body may be made when it is sent: a stream is sent once. */
type Sent = Omit<OutgoingRequest, 'body'> & { readonly body?: string | (() => BodyInit) | undefined };

/** Sends a request and resolves to the response, whatever its status. Repeats it once if better credentials may be accepted. */
export async function exchange(request: Sent, context: Context): Promise<Response> {
  context.signal.throwIfAborted();
  const { url } = request;
  const refused = await credentialsFor(url, context);
  const response = await send(request, context, refused);
  const challenge = response.headers.get('www-authenticate') ?? '';
  if (!isRefusal(response.status === 401, challenge)) return response;
  const better = await credentialsFor(url, context, { challenge, refused });
  if (!better) return response;
  discard(response);
  return send(request, context, better);
}

/** Whether other credentials may be accepted: there were none or they were wrong, or they lack a scope. */
export const isRefusal = (isUnauthenticated: boolean, challenge = ''): boolean =>
  isUnauthenticated || challenge.includes('insufficient_scope');

/**
 * Sends a request and follows redirects itself when it posts or carries secrets. The caller's headers go to trusted origins
 * only, and a redirect to another origin drops them for the rest of the chain. Requests with credentials are never redirected.
 */
async function send(
  request: Sent,
  context: Context,
  credentials: CredentialsRequest['refused'],
): Promise<Response> {
  const { settings, signal } = context;
  const hasSecrets = hasHeaders(context);
  let { url, method, body, headers: own } = request;
  let isTrusted = settings.origins.has(new URL(url).origin);
  let sees = true;
  for (let hops = 0; ; hops += 1) {
    // Where a redirect may be followed, `fetch` of Node.js keeps all of a stream in memory, to send it again.
    const made =
      typeof body === 'function' ? { body: body(), duplex: 'half', redirect: 'error' as const } : { body };
    const init: RequestInit = {
      ...unlimited,
      method,
      signal,
      // Made here, so that one that cannot be sent is no failure of the network.
      headers: new Headers({ ...own, ...headersOf(context, isTrusted), ...credentials }),
      redirect:
        credentials || (sees && (method === 'POST' || (isTrusted && hasSecrets))) ? 'manual' : 'follow',
      ...made,
    };
    const answer = settings.fetch ? settings.fetch(new Request(url, init)) : sendHttp(url, init);
    const response = await answered(unlessAborted(answer, signal));
    const { status, headers, type } = response;
    const location = isRedirect.test(`${status}`) ? headers.get('location') : null;
    if (type !== 'opaqueredirect' && location === null) {
      if (hasSecrets && !isTrusted && status === 401) throw untrusted(url);
      return response;
    }
    discard(response);
    if (credentials) throw noRedirect(url, 'but credentials do not follow redirects', location);
    // Browsers hide the target of a redirect, so the request is repeated without the caller's headers.
    sees = location !== null;
    isTrusted &&= sees;
    if (location === null) continue;
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (!next?.protocol.startsWith('http')) throw noRedirect(url, 'no address of HTTP', location);
    if (hops === MAX_REDIRECTS) throw noRedirect(url, `after ${hops} other redirects`, location);
    if (status < 307 && method === 'POST' && !isSpelling(new URL(url), next)) {
      const { 'content-type': _, ...rest } = own;
      [method, body, own] = ['GET', undefined, rest];
    }
    url = next.href;
    isTrusted &&= settings.origins.has(next.origin);
  }
}

/** The headers of a call besides those of its binding and its credentials. */
export const headersOf = (
  { settings, span, headers, version, extensionsHeader, extensions, lastEventId }: Omit<Context, 'signal'>,
  isTrusted: boolean,
): Record<string, string> => ({
  ...span?.headers,
  [A2A_VERSION]: version,
  ...(extensions.length > 0 && { [extensionsHeader ?? A2A_EXTENSIONS]: extensions.join(', ') }),
  ...(lastEventId && { 'last-event-id': lastEventId }),
  ...(isTrusted && { ...settings.headers, ...headers }),
});

/** Whether a call has headers of its caller. */
export const hasHeaders = ({ settings, headers }: Pick<Context, 'settings' | 'headers'>): boolean =>
  Object.keys({ ...settings.headers, ...headers }).length > 0;

/**
 * Whether a redirect only spells an address as a proxy wants it: with TLS, or with a slash at its end or without. A
 * message is posted there as it is (RFC 9110, 15.4.2); elsewhere a redirect of 301 or 302 asks for a page.
 */
const isSpelling = (from: URL, to: URL): boolean =>
  from.host === to.host &&
  (to.protocol === from.protocol || to.protocol === 'https:') &&
  withoutSlash(from) === withoutSlash(to);
const withoutSlash = ({ pathname, search }: URL) => pathname.replace(/\/$/, '') + search;

const MAX_REDIRECTS = 20;
const isRedirect = /^30[12378]$/;

const noRedirect = (url: string, why: string, location: string | null) =>
  new ClientError('NETWORK', `${url} redirects${location === null ? '' : ` to ${location}`}, ${why}`);

/** The error for a 401 of an origin to which the caller's headers are not sent. */
export const untrusted = (url: string) =>
  new A2AError('UNAUTHENTICATED', `${new URL(url).origin} asks who calls, but is not in trustedOrigins`);

/** The headers of the `credentials` hook, for which the call waits no longer than it lasts. Rejects with `CREDENTIALS` if the hook does. */
export async function credentialsFor(
  url: string,
  { settings: { origins, card, credentials }, signal }: Pick<Context, 'settings' | 'signal'>,
  refusal?: Pick<CredentialsRequest, 'challenge' | 'refused'>,
) {
  try {
    const isTrusted = origins.has(new URL(url).origin);
    return await unlessAborted(credentials?.({ url, card, isTrusted, ...refusal }), signal);
  } catch (error) {
    throw new ClientError('CREDENTIALS', 'The credentials hook failed', error);
  }
}

/** What the attempts of a call know of its span. */
export interface Retried extends Pick<CallSpan, 'retried'> {
  readonly headers?: CallSpan['headers'] | undefined;
}

export interface InSpan extends CallOptions {
  readonly span?: Retried | undefined;
}

/** What telemetry learns of a call that begins, on the interface in use. */
export function callStart(
  { card, address, candidates, current }: RetryContext & { readonly card: AgentCard },
  operation: OperationName,
  params: CallStart['params'],
  lastEventId?: string,
): CallStart {
  const { name, version } = candidates[current]!.codec;
  return { operation, params, card, address, version, binding: name, lastEventId };
}

/** A result, or an event of a stream. */
export interface Replied {
  readonly event: unknown;
}

/** A call in a span of its own. A caller that leaves a stream is no error. */
export async function* tracedCall<Reply extends Replied>(
  telemetry: ClientTelemetry,
  start: CallStart,
  open: (span: InSpan['span']) => AsyncGenerator<Reply, void, void>,
): AsyncGenerator<Reply, void, void> {
  const ask = <T>(fn: () => T) => askHook('telemetry', fn);
  const span = ask(() => telemetry.call(start));
  const events = open({
    headers: ask(() => span?.headers),
    retried: (error) => ask(() => span?.retried(error)),
  });
  let failure: unknown;
  try {
    for (;;) {
      let asked: ReturnType<typeof events.next> | undefined;
      const next = () => (asked ??= events.next());
      // A generator does not keep the context that it was created in.
      ask(() => span?.run(() => void next()));
      const { done, value } = await next();
      if (done) return;
      ask(() => span?.saw(value.event));
      yield value;
    }
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    await events.return();
    ask(() => span?.end(failure));
  }
}
