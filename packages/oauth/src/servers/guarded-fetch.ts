import { chunksOf, readText } from '@batonjs/protocol/json';
import { unlessAborted } from '@batonjs/protocol/timing';
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
      const text = await readText(chunksOf(response.body), maximumBytes).catch(() => {
        throw failure('breaks off its answer');
      });
      if (text === undefined)
        throw new OAuthError('INVALID_ANSWER', `${shown(url)} answers more than ${maximumBytes} bytes`);
      // The caller is shown what a refusal says, and a server may repeat there what it refuses.
      const said = status < 400 ? text : withoutSecrets(text, headers.authorization, String(body ?? ''));
      return new Response(said === '' ? null : said, { status, headers: [...received] });
    };
    // A `fetch` of the options may not look at the signal, and that of a request is lost when the request is collected.
    if (!signal) return exchange();
    return unlessAborted(exchange(), signal).catch((error) => {
      throw signal.aborted ? failure('does not answer in time') : error;
    });
  };

/** The members of a form that are secrets. */
const secretMembers = [
  'client_secret',
  'client_assertion',
  'code',
  'code_verifier',
  'device_code',
  'refresh_token',
];

/** The fewest characters of a secret: shorter ones stand in too many words. */
const shortestSecret = 8;

/** A text without the secrets that a request had in its form and in `Authorization: Basic`. */
function withoutSecrets(text: string, authorization = '', body: string): string {
  const form = new URLSearchParams(body);
  const [, basic = ''] = /^Basic ([\w+/]+=*)$/.exec(authorization) ?? [];
  const [, password = ''] = /:(.*)/.exec(atob(basic)) ?? [];
  const secrets = [...secretMembers.map((name) => form.get(name) ?? ''), password, formDecoded(password)];
  const hide = (rest: string, secret: string) =>
    secret.length < shortestSecret ? rest : rest.replaceAll(secret, '[redacted]');
  return secrets.reduce(hide, text);
}

/** RFC 6749 §2.3.1: names and secrets are encoded as in a form. */
const formDecoded = (text: string): string => new URLSearchParams(`text=${text}`).get('text') ?? '';
