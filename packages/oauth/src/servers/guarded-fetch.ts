import type { CustomFetch } from 'openid-client';
import { OAuthError } from '../oauth-error.ts';
import { checkAddress, shown } from './safe-address.ts';

/** Far more than any metadata or token answer has. */
const maximumBytes = 1_048_576;

/**
 * The `fetch` for authorization servers: it sends to safe addresses only, refuses redirects, and reads at most 1 MiB.
 * Rejects with an `OAuthError`.
 */
export const guardedFetch =
  (send: (request: Request) => Promise<Response> = fetch): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    checkAddress(url, 'An address of the authorization server');
    const failure = (what: string) => new OAuthError('NETWORK', `${shown(url)} ${what}`);
    const init: RequestInit = { method, headers, redirect: 'manual', signal: signal ?? null };
    const exchange = async () => {
      // The form as text: a `fetch` of another copy of undici does not know this `URLSearchParams`.
      const request = new Request(url, body ? { ...init, body: String(body) } : init);
      const response = await send(request).catch(() => {
        throw failure('cannot be reached');
      });
      const { status, headers: received, type } = response;
      if (type === 'opaqueredirect' || (status > 299 && status < 400)) {
        response.body?.cancel().catch(() => {});
        throw new OAuthError('INVALID_ANSWER', `${shown(url)} redirects, which it must not`);
      }
      const text = await readText(response).catch(() => {
        throw failure('breaks off its answer');
      });
      if (text === undefined)
        throw new OAuthError('INVALID_ANSWER', `${shown(url)} answers more than ${maximumBytes} bytes`);
      return new Response(text === '' ? null : text, { status, headers: [...received] });
    };
    return unlessAborted(signal, () => failure('does not answer in time'), exchange);
  };

/**
 * Settles as `work` does, or rejects when the signal aborts. A `fetch` of the options may not look at the signal, and that
 * of a request is lost when the request is collected.
 */
async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  failure: () => Error,
  work: () => Promise<T>,
): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(failure());
  signal?.addEventListener('abort', abort);
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** The body; undefined if it is too large. */
async function readText({ body }: Response): Promise<string | undefined> {
  const reader = body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > maximumBytes) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
