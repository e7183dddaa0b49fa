import { A2AError } from '@batonjs/protocol/errors';
import { reasonOfStatus, secondsIn } from './error-info.ts';
import type { IncomingReply } from './http.ts';
import { isObject, tryJson } from './json-body.ts';

/**
 * The error of a reply that no agent wrote: a proxy's, a gateway's or a page's for signing in. It names what answered and
 * what it says, since the status alone would blame the request, or the agent.
 */
export function foreignAnswer(reply: IncomingReply): A2AError {
  const { status, headers } = reply;
  const goesOn = status === 504 || status === 524 ? '; the agent may go on with the work' : '';
  const reason = reasonOfStatus(status) ?? (status < 500 ? 'INVALID_REQUEST' : 'INTERNAL_ERROR');
  return new A2AError(
    reason === 'INVALID_REQUEST' ? 'INVALID_AGENT_RESPONSE' : reason,
    `${saysOf(reply)}, which is no answer of A2A${goesOn}`,
    { retryAfter: secondsIn(headers.get('retry-after')) },
  );
}

/** What a reply is, in a sentence without its end: where it comes from, its status and type, and its first words. */
export function saysOf({ status, headers, body, url = 'The server' }: IncomingReply): string {
  const type = headers.get('content-type')?.split(';')[0] || 'no content type';
  const words = wordsOf(body);
  return `${url.split(/[?#]/)[0]} answers ${status} with ${type}${words && ` ("${words}")`}`;
}

/** The message of a gateway's JSON, the title of a page, or the beginning of a text. */
function wordsOf(body: string): string {
  const json = tryJson(body);
  const { message, title, error } = isObject(json) ? json : {};
  const said =
    message ?? title ?? error ?? (json !== undefined ? '' : (/<title>([^<]*)/i.exec(body)?.[1] ?? body));
  const words = String(said)
    .slice(0, 4_096)
    .replace(/(<[^>]*>|\s)+/g, ' ')
    .trim();
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
}
