import type { HttpReply } from '@batonjs/bindings';
import { AGENT_CARD_PATH } from '@batonjs/protocol/headers';
import type { Handle, HttpExchange } from './request-body.ts';

/** Which web pages may call the agent. */
export interface CorsOptions {
  /** Origins such as `https://app.example`, or a function that decides. Default: any. */
  readonly origins?: readonly string[] | ((origin: string) => boolean);
  /** Request headers to allow besides those of the protocol and of the card's security schemes. */
  readonly headers?: readonly string[];
  /** Whether the browser sends its cookies. Only with `origins`: any page could act for its visitors. Default false. */
  readonly credentials?: boolean;
}

/** The options, completed. */
export type CorsPolicy = Readonly<NonNullable<ReturnType<typeof completeCors>>>;

const requestHeaders = [
  ...'a2a-extensions a2a-version accept content-type if-none-match last-event-id'.split(' '),
  ...'traceparent tracestate x-a2a-extensions x-request-id'.split(' '),
];
const responseHeaders =
  'a2a-extensions, allow, etag, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-a2a-extensions, x-request-id';
/** What pages send to an agent that takes uploads by tus, and read of its answers. */
export const tusHeaders: string[] = 'tus-resumable upload-length upload-metadata upload-offset'.split(' ');
const tusResponseHeaders = `${responseHeaders}, ${tusHeaders.join(', ')}, location, tus-extension, tus-max-size, tus-version, upload-expires`;

/**
 * Completes the options. Undefined: pages may not call the agent. Throws `TypeError` for options that browsers refuse.
 */
export function completeCors(options: CorsOptions | boolean = false, credentialHeaders: readonly string[]) {
  if (options === false) return undefined;
  const { origins, headers = [], credentials = false } = options === true ? {} : options;
  if (credentials && !origins) throw new TypeError('`cors.credentials` needs `cors.origins`');
  const all = [...requestHeaders, ...credentialHeaders, ...headers].map((name) => name.toLowerCase());
  return {
    allows: typeof origins === 'function' ? origins : (origin: string) => origins?.includes(origin) ?? true,
    /** Whether the answer is the same for every origin. */
    any: !origins,
    headers: [...new Set(all)].filter((name) => name !== 'cookie').sort(),
    credentials,
  };
}

/** How long a browser may keep the answer to a preflight: changed options are in effect after that. */
const preflightSeconds = '600';

/** The public card may be read from any page. */
const cardOnly = completeCors({}, []) as CorsPolicy;

/** Answers preflights and lets web pages read the replies. Spec: Fetch §3.2. */
export function withCors(handle: Handle, cors: CorsPolicy | undefined): Handle {
  return async (exchange) => {
    const { method, path, headers } = exchange;
    const policy = cors ?? (path.endsWith(AGENT_CARD_PATH) ? cardOnly : undefined);
    if (!policy) return handle(exchange);
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    const reply = isPreflight ? preflight(policy, path) : await handle(exchange);
    return { ...reply, headers: merge(reply.headers, allowed(policy, exchange)) };
  };
}

const hasTus = ({ headers }: CorsPolicy): boolean => headers.includes('tus-resumable');

const preflight = (policy: CorsPolicy, path: string): HttpReply => ({
  status: 204,
  headers: {
    'access-control-allow-methods': path.endsWith(AGENT_CARD_PATH)
      ? 'GET, HEAD'
      : `DELETE, GET, HEAD, ${hasTus(policy) ? 'PATCH, ' : ''}POST`,
    'access-control-allow-headers': policy.headers.join(', '),
    'access-control-max-age': preflightSeconds,
  },
});

function allowed(policy: CorsPolicy, { headers: { origin } }: HttpExchange): Record<string, string> {
  const { any, allows, credentials } = policy;
  const exposed = hasTus(policy) ? tusResponseHeaders : responseHeaders;
  if (any) return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed };
  if (!origin || !allows(origin)) return { vary: 'Origin' };
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
    ...(credentials && { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin',
  };
}

/** Merges headers. The card's own `*` gives way to the origins of the options. */
function merge(headers: HttpReply['headers'], more: Record<string, string>): Record<string, string> {
  const { 'access-control-allow-origin': _, ...others } = headers;
  const vary = [headers.vary, more.vary].filter(Boolean).join(', ');
  return { ...others, ...more, ...(vary && { vary }) };
}
