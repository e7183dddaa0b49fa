import { type HttpReply, hostnameOf, isForeignHost, type JsonBody, jsonBody } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { JSON_TYPE } from '@batonjs/protocol/headers';
import { concat, fromUtf8 } from '#bytes';
import type { Logger } from '../../base/hooks/logger.ts';
import type { Limits } from '../../base/limits.ts';
import type { RequestHead } from '../calls/caller-limits.ts';

/** How a body is read. */
export interface BodyOptions {
  readonly options: { readonly limits: Pick<Limits, 'bodyBytes' | 'jsonDepth' | 'jsonValues'> };
  readonly logger: Logger;
  readonly requestId: string;
  /** Rejects if the caller may not send a large body. */
  readonly ask: () => Promise<unknown>;
}

/**
 * The body of a POST request; undefined for other requests. Calls `ask` before it reads more than 64 kB of a body that
 * does not declare its length. Throws what `ask` throws, `PAYLOAD_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE` if it is
 * compressed, or `PARSE_ERROR` if it is not UTF-8 or ends too early.
 */
export async function readBody(exchange: HttpExchange, options: BodyOptions): Promise<JsonBody | undefined> {
  if (exchange.method !== 'POST') return undefined;
  const { jsonDepth: maxDepth, jsonValues: maxValues } = options.options.limits;
  return jsonBody(await readContent(exchange, options), { maxDepth, maxValues });
}

/** The body as its text or, if a framework has parsed it, as its value. Throws as `readBody`, not for its syntax. */
export async function readContent(
  { method, path, headers, readBody }: HttpExchange,
  { options, logger, requestId, ask }: BodyOptions,
): Promise<{ readonly text: string } | { readonly value: unknown }> {
  const { bodyBytes } = options.limits;
  const declared = Number(headers['content-length']);
  const read = declared > bodyBytes ? undefined : readBody(bodyBytes, ask);
  const body = (await read?.catch((error) => lost(error, logger, { requestId, method, path }))) ?? {
    longerThan: bodyBytes,
  };
  if ('encoding' in body)
    throw new A2AError(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body is compressed (${body.encoding}): send it as it is`,
    );
  if ('longerThan' in body) {
    const whose = body.longerThan < bodyBytes ? ', the limit of the parser in front of the agent' : '';
    throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${body.longerThan} bytes${whose}`);
  }
  return 'bytes' in body ? { text: toText(body.bytes) } : body;
}

const small = 65_536;

/**
 * Whether a body is longer than 64 kB, or does not declare its length. The handler then authenticates the caller before
 * it reads the body, so that a refusal comes before every error of the body.
 */
export const isLarge = ({ method, headers }: Pick<HttpExchange, 'method' | 'headers'>): boolean =>
  method === 'POST' &&
  (Number(headers['content-length']) > small || headers['transfer-encoding'] !== undefined);

/** Logs only at `info`: a client that leaves before its request is complete is no fault, and gets no answer. */
export function lost(error: unknown, logger: Logger, details: Readonly<Record<string, unknown>>): never {
  if (A2AError.is(error)) throw error;
  logger('info', 'A client left before its request was complete', { ...details, error });
  throw new A2AError('PARSE_ERROR', 'The body ended too early');
}

/** The coding of a compressed body. Spec: RFC 9110 §8.4. */
const codingOf = (header: string | null | undefined): string | undefined =>
  !header || /^(identity)?$/i.test(header.trim()) ? undefined : header.slice(0, 40);

function toText(bytes: Uint8Array): string {
  const text = fromUtf8(bytes);
  if (text === undefined) throw new A2AError('PARSE_ERROR', 'The body is not UTF-8');
  return text;
}

/** How long the answer to a request may take whose body is not read to its end, in milliseconds. */
const answerMs = 1_000;

/** Cancels a body, but not at once: frameworks then break the connection, which still has to carry the answer. */
function letGo(body: Request['body']): void {
  const timer: unknown = setTimeout(() => body?.cancel().catch(() => {}), answerMs);
  // Only in Node.js is it an object.
  (timer as { unref?: () => void }).unref?.();
}

/** The chunks of a body. One that is not read to its end is let go. */
export async function* chunksOf(body: Request['body']): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  let isWhole = false;
  try {
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) yield next.value;
    isWhole = true;
  } finally {
    reader?.releaseLock();
    if (!isWhole) letGo(body);
  }
}

/** Reads the body of a web request for `readBody`. Calls `ask` before it reads more than 64 kB. */
export async function readStream(
  { headers, body }: Pick<Request, 'headers' | 'body'>,
  limit: number,
  ask: () => Promise<unknown>,
): Promise<Body | undefined> {
  const encoding = codingOf(headers.get('content-encoding'));
  if (encoding) return { encoding };
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  let isWhole = false;
  try {
    for (;;) {
      const chunk = (await reader?.read())?.value;
      isWhole = !chunk;
      if (!chunk) return { bytes: concat(chunks) };
      const isFirstLarge = length <= small && length + chunk.byteLength > small;
      length += chunk.byteLength;
      if (isFirstLarge) await ask();
      if (length > limit) return undefined;
      chunks.push(chunk);
    }
  } finally {
    reader?.releaseLock();
    if (!isWhole) letGo(body);
  }
}

/**
 * The body of a request. `longerThan`: the framework stopped reading it after so many bytes. `encoding`: it is still
 * compressed in that way.
 */
export type Body =
  | { readonly bytes: Uint8Array }
  | { readonly value: unknown }
  | { readonly longerThan: number }
  | { readonly encoding: string };

/** A request as an adapter passes it: plain values, and a body that is read only when it is needed. */
export interface HttpExchange extends RequestHead {
  /**
   * The body: its bytes, or the value a framework parsed already. Reads no further than `limit` bytes; undefined if
   * there are more. Rejects if the body ends too early. An adapter whose requests may have no declared length awaits
   * `ask` before it reads more than 64 kB, and rejects if `ask` does: this caller may not send so much.
   */
  readonly readBody: (limit: number, ask: () => Promise<unknown>) => Promise<Body | undefined>;
  /**
   * The body as it arrives, of any length, once, and instead of `readBody`. Rejects if it ends too early. An adapter that
   * has none takes no uploads.
   */
  readonly bytes?: (() => AsyncIterable<Uint8Array>) | undefined;
  /** Absolute URL of the mount without trailing slash, if the request can be trusted to say it. */
  readonly baseUrl?: string | undefined;
  /**
   * Whether the request came over loopback under a host that is not this machine's, and that no trusted proxy set. A page
   * in a browser on this machine may have sent it, whose name leads to this machine (DNS rebinding). It is refused where
   * any caller is served, unless `publicUrl` has this host.
   */
  readonly hasForeignHost?: boolean | undefined;
  /**
   * The same, from an adapter that does not see the connection: whether the host is not this machine's. It is refused where
   * any caller is served, unless `publicUrl` has a host elsewhere: a caller of that needs no page.
   */
  readonly mayHaveForeignHost?: boolean | undefined;
  /** The adapter does not know where the agent is mounted, so that `path` may begin with the path of the mount. */
  readonly isMountUnknown?: boolean | undefined;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The error of a middleware that refused the request, for its rate perhaps. It is answered in the request's binding. */
  readonly refusal?: A2AError | undefined;
}

/** Answers a request. Never rejects. */
export type Handle = (exchange: HttpExchange) => Promise<HttpReply>;

/** Who is served, and under which name. */
export interface ServedHost {
  /** Whether callers show who they are: a page has no credentials for a name that leads to this machine. */
  readonly hasAuthenticate: boolean;
  readonly publicUrl: string | undefined;
}

/**
 * Refuses requests under a name that may be that of a web page which leads to this machine (DNS rebinding), if any caller
 * is served.
 */
export function withOwnHost(handle: Handle, { hasAuthenticate, publicUrl }: ServedHost): Handle {
  if (hasAuthenticate) return handle;
  const own = publicUrl === undefined ? [] : [hostnameOf(new URL(publicUrl).host) ?? ''];
  return (exchange) => {
    const { hasForeignHost: isLoopback, mayHaveForeignHost, headers } = exchange;
    if (isLoopback === undefined && !mayHaveForeignHost) return handle(exchange);
    if (!isForeignHost(headers.host ?? '', { own, isLoopback })) return handle(exchange);
    const why =
      'The header `Host` is not a name of this machine: for other names, set `publicUrl` or `authenticate`';
    return handle({ ...exchange, refusal: new A2AError('PERMISSION_DENIED', why) });
  };
}

/**
 * How long a server keeps an idle connection, in milliseconds. Proxies and load balancers keep theirs for 60 s. What they
 * send over a connection that the server closes at that moment, after the 5 s of Node.js, they answer with a 502.
 */
export const keepAliveMs = 75_000;

/** An error as JSON, where no binding is spoken. */
export const refusal = (code: number, message: string, headers: HttpReply['headers'] = {}): HttpReply => ({
  status: code,
  headers: { 'content-type': JSON_TYPE, ...headers },
  body: JSON.stringify({ error: { code, message } }),
});
