import type { OutgoingRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION } from '@batonjs/protocol/headers';
import { sendHttp } from '#http';
import { ClientError } from '../client-error.ts';
import type { CallOptions } from '../options/connect-options.ts';
import type { Settings } from '../options/settings.ts';
import type { CallSpan } from '../options/telemetry.ts';
import { discard } from './response-body.ts';

/** What a request carries besides its own headers and body. */
interface Context extends CallOptions {
  readonly span?: CallSpan | undefined;
  readonly settings: Settings;
  readonly version: string;
  readonly extensionsHeader?: string | undefined;
  readonly extensions: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Sends a request and resolves to the response, whatever its status. After a 401, repeats it once with new
 * credentials.
 */
export async function exchange(request: OutgoingRequest, context: Context): Promise<Response> {
  const { settings, signal } = context;
  signal.throwIfAborted();
  const response = await send(request, context);
  if (response.status !== 401 || !settings.credentials) return response;
  const challenge = response.headers.get('www-authenticate') ?? '';
  discard(response);
  return send(request, context, challenge);
}

/**
 * Sends a request and follows redirects itself when it carries secrets. The caller's headers go to trusted origins
 * only, and a redirect to another origin drops them for the rest of the chain. Requests with credentials are never
 * redirected.
 */
async function send(request: OutgoingRequest, context: Context, challenge?: string): Promise<Response> {
  const { settings, version, extensionsHeader = A2A_EXTENSIONS, extensions, signal } = context;
  const secrets = { ...settings.headers, ...context.headers };
  const hasSecrets = Object.keys(secrets).length > 0;
  const credentials = await credentialsFor(request.url, challenge, settings);
  let { url, method, body, headers: own } = request;
  let isTrusted = settings.origins.has(new URL(url).origin);
  for (let hops = 0; ; hops += 1) {
    const init: RequestInit = {
      method,
      body,
      signal,
      headers: {
        ...own,
        ...context.span?.headers,
        [A2A_VERSION]: version,
        ...(extensions.length > 0 && { [extensionsHeader]: extensions.join(', ') }),
        ...(isTrusted && secrets),
        ...credentials,
      },
      redirect: credentials || (isTrusted && hasSecrets) ? 'manual' : 'follow',
    };
    const answer = settings.fetch ? settings.fetch(new Request(url, init)) : sendHttp(url, init);
    const response = await unlessAborted(answer, signal);
    const { status, headers, type } = response;
    const location = isRedirect.has(status) ? headers.get('location') : null;
    if (type !== 'opaqueredirect' && location === null) {
      if (hasSecrets && !isTrusted && status === 401) throw untrusted(url);
      return response;
    }
    discard(response);
    if (credentials) throw noRedirect(url, 'and credentials do not follow redirects', location);
    // Browsers hide the target of a redirect, so the request is repeated without the caller's headers.
    isTrusted &&= location !== null;
    if (location === null) continue;
    const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (!next?.protocol.startsWith('http')) throw noRedirect(url, 'which is no address of HTTP', location);
    if (hops === MAX_REDIRECTS) throw noRedirect(url, `after ${hops} other redirects`, location);
    if (status < 307 && method === 'POST') {
      const { 'content-type': _, ...rest } = own;
      [method, body, own] = ['GET', undefined, rest];
    }
    url = next.href;
    isTrusted &&= settings.origins.has(next.origin);
  }
}

const MAX_REDIRECTS = 20;
const isRedirect: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

const noRedirect = (url: string, why: string, location: string | null) =>
  new ClientError('NETWORK', `${url} redirects${location === null ? '' : ` to ${location}`}, ${why}`);

/** The error for a 401 of an origin to which the caller's headers are not sent. */
export const untrusted = (url: string) =>
  new A2AError(
    'UNAUTHENTICATED',
    `${new URL(url).origin} asks who calls. The headers of this client are not sent there: list it in trustedOrigins if it may have them`,
  );

/** Rejects as soon as the signal aborts: a custom `fetch` may ignore the signal. */
function unlessAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  aborted.catch(() => {});
  return Promise.race([response, aborted]);
}

/** The headers of the `credentials` hook. Rejects with `CREDENTIALS` if the hook does. */
export async function credentialsFor(url: string, challenge: string | undefined, settings: Settings) {
  try {
    return await settings.credentials?.({ url, ...(challenge !== undefined && { challenge }) });
  } catch (error) {
    throw new ClientError('CREDENTIALS', 'There are no credentials for this agent', error);
  }
}
