import type { OutgoingRequest } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { A2A_EXTENSIONS, A2A_VERSION } from '@batonjs/protocol/headers';
import { sendHttp } from '#http';
import { ClientError } from '../client-error.ts';
import type { CallOptions, Settings } from '../options/settings.ts';

/** What goes along with a request besides its content. */
interface Context extends CallOptions {
  readonly settings: Settings;
  readonly version: string;
  readonly extensionsHeader?: string | undefined;
  readonly extensions: readonly string[];
  readonly signal: AbortSignal;
}

/** Sends a request and resolves to whatever was answered. Rejects when there was no answer. */
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
 * Follows redirects itself where secrets are sent along: headers go to origins that the caller trusts, and are dropped for
 * good by a redirect to another one; requests with credentials are not redirected at all.
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
    // Browsers do not tell where a redirect leads: it is followed without the headers, wherever that is.
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

const untrusted = (url: string) =>
  new A2AError(
    'UNAUTHENTICATED',
    `${new URL(url).origin} asks who calls. The headers of this client are not sent there: list it in trustedOrigins if it may have them`,
  );

/** A fetch that is passed in may not care for the signal. */
function unlessAborted(response: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  aborted.catch(() => {});
  return Promise.race([response, aborted]);
}

/** Gives up the body of a response that is not read. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => {});
};

async function credentialsFor(url: string, challenge: string | undefined, settings: Settings) {
  try {
    return await settings.credentials?.({ url, ...(challenge !== undefined && { challenge }) });
  } catch (error) {
    throw new ClientError('CREDENTIALS', 'There are no credentials for this agent', error);
  }
}

/** Reads a whole body as text. Rejects with `RESPONSE_TOO_LARGE` as soon as it has more than so many bytes. */
export async function readText({ body, headers }: Response, maxBytes: number): Promise<string> {
  if (!body) return '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = '';
  let size = 0;
  try {
    if (Number(headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/**
 * Passes on the bytes of a stream of events and tells of each piece. Fails with `RESPONSE_TOO_LARGE` when an event grows
 * beyond so many bytes; `seen` is called whenever an event is complete.
 */
export function watchBody(body: ReadableStream<Uint8Array>, maxBytes: number, onPiece: () => void) {
  const reader = body.getReader();
  let pending = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pending > maxBytes) throw tooLarge(maxBytes);
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onPiece();
        pending += value.length;
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead, so that all that is pending belongs to one event.
    { highWaterMark: 0 },
  );
  return {
    stream,
    seen(data: string) {
      if (data.length > maxBytes) throw tooLarge(maxBytes);
      pending = 0;
    },
  };
}

const tooLarge = (maxBytes: number) =>
  new ClientError('RESPONSE_TOO_LARGE', `The answer has more than ${maxBytes} bytes`);
