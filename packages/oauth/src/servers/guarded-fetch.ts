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
    let response: Response;
    try {
      // The form as text: a `fetch` of another copy of undici does not know this `URLSearchParams`.
      response = await send(new Request(url, body ? { ...init, body: String(body) } : init));
    } catch {
      throw failure(signal?.aborted ? 'does not answer in time' : 'cannot be reached');
    }
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
