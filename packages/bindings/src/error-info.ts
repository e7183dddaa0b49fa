import {
  A2A_DOMAIN,
  A2AError,
  BATON_DOMAIN,
  type ErrorDetail,
  type ErrorReason,
  type ErrorRow,
  errorTable,
} from '@batonjs/protocol/errors';
import { isObject } from '@batonjs/protocol/json';
import { retryAfterMs } from '@batonjs/protocol/timing';
import type { IncomingReply } from './http.ts';
import { parseAnswer } from './json-body.ts';

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

export const rowOf = (error: A2AError): ErrorRow => errorTable[error.reason];

/** The details of an error: the `ErrorInfo` with its reason, the `RetryInfo`, and others. Spec: §9.5, §11.6. */
export const toDetails = (error: A2AError): ErrorDetail[] => {
  const { reason, metadata, details, retryAfter } = error;
  const { domain = A2A_DOMAIN } = rowOf(error);
  const info = { '@type': ERROR_INFO, reason, domain, ...(metadata && { metadata }) };
  return retryAfter === undefined
    ? [info, ...details]
    : [info, { '@type': RETRY_INFO, retryDelay: `${wholeSeconds(retryAfter)}s` }, ...details];
};

const wholeSeconds = (seconds: number): number => Math.max(0, Math.ceil(seconds));

/** The response headers that go with an error. */
export const toHeaders = ({ retryAfter, challenge, metadata }: A2AError): Record<string, string> => ({
  ...(retryAfter !== undefined && { 'retry-after': String(wholeSeconds(retryAfter)) }),
  ...(challenge && { 'www-authenticate': challenge }),
  ...(metadata?.allow && { allow: metadata.allow }),
});

/** An error as a peer sent it: every member may be missing or wrong. */
export interface WireError {
  readonly message?: unknown;
  readonly details?: unknown;
  /** JSON-RPC code. */
  readonly code?: unknown;
  /** HTTP status of the reply. */
  readonly status?: number;
  readonly retryAfter?: string | null;
}

/**
 * Makes an error of one from the wire. The reason is that of `ErrorInfo`. Without an `ErrorInfo`, or with one that the error
 * table does not have, the code and then the HTTP status decide. An unknown `ErrorInfo` stays among the details.
 */
export function fromWire({ message, details, code, status, retryAfter }: WireError): A2AError {
  const list = Array.isArray(details) ? details.filter(isDetail) : [];
  const info = list.find(isOurInfo);
  const reason = info?.reason ?? reasonOfCode(code, status) ?? reasonOfStatus(status) ?? 'INTERNAL_ERROR';
  const retry = list.find((detail) => detail['@type'] === RETRY_INFO);
  return new A2AError(reason, typeof message === 'string' && message !== '' ? message : undefined, {
    details: list.filter((detail) => detail !== info && detail !== retry),
    metadata: info && toMetadata(info.metadata),
    retryAfter: secondsIn(retryAfter || durationIn(retry)),
  });
}

function secondsIn(header: string | null | undefined): number | undefined {
  const ms = retryAfterMs(header, Date.now());
  return ms === undefined ? undefined : ms / 1_000;
}

/** The number of a duration such as `5s`. */
const durationIn = (retry: ErrorDetail | undefined): string | undefined =>
  /^(.*)s$/.exec(String(retry?.retryDelay))?.[1];

const isDetail = (value: unknown): value is ErrorDetail =>
  isObject(value) && typeof value['@type'] === 'string';

const isOurInfo = (detail: ErrorDetail): detail is ErrorDetail & { reason: ErrorReason } =>
  detail['@type'] === ERROR_INFO &&
  typeof detail.reason === 'string' &&
  Object.hasOwn(errorTable, detail.reason) &&
  [A2A_DOMAIN, BATON_DOMAIN, undefined].includes(detail.domain as string | undefined);

const toMetadata = (value: unknown): Record<string, string> | undefined =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, String(member)]))
    : undefined;

const reasons = Object.keys(errorTable) as ErrorReason[];

/** Each code of A2A means one error. For a standard code, a more precise HTTP status decides. */
function reasonOfCode(code: unknown, status: number | undefined): ErrorReason | undefined {
  const reason = reasons.find((candidate) => errorTable[candidate].jsonRpc === code);
  const isStandard = typeof code === 'number' && code < -32099;
  return (isStandard && status !== 400 && status !== 404 && reasonOfStatus(status)) || reason;
}

const reasonByStatus: Readonly<Record<number, ErrorReason>> = {
  400: 'INVALID_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'METHOD_NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'RESOURCE_EXHAUSTED',
  408: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

const reasonOfStatus = (status = 0): ErrorReason | undefined =>
  // Cloudflare has 520 to 527 for a server that does not answer.
  reasonByStatus[status] ?? (status > 519 && status < 528 ? 'UNAVAILABLE' : undefined);

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
  const json = parseAnswer(body);
  const { message, title, error } = isObject(json) ? json : {};
  const said = [message, title, isObject(error) ? error.message : error].find(
    (one) => typeof one === 'string',
  );
  const page = json === undefined ? (/<title>([^<]*)/i.exec(body)?.[1] ?? body) : '';
  const words = String(said ?? page)
    .slice(0, 4_096)
    .replace(/(<[^>]*>|\s)+/g, ' ')
    .trim();
  return words.length > 120 ? `${words.slice(0, 120)}…` : words;
}
