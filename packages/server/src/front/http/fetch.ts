import { type HttpReply, namesThisMachine } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import { chunksOf, type Handle, type HttpExchange, readStream } from './request-body.ts';

/** The members of a request that an adapter adds. Without `readBody`, the body of the request is read. */
export type Asked = Pick<
  HttpExchange,
  | 'path'
  | 'baseUrl'
  | 'hasForeignHost'
  | 'mayHaveForeignHost'
  | 'isMountUnknown'
  | 'refusal'
  | 'remoteAddress'
> &
  Partial<Pick<HttpExchange, 'readBody'>>;

/**
 * Throws `TypeError` for what cannot be mounted: each request would fail, and only then. `mount` is the function that
 * was given it.
 */
export function mustHandle(served: { readonly handle: Handle }, mount: string): void {
  if (typeof Object(served).handle !== 'function')
    throw new TypeError(
      `${mount} takes an agent server, or a handler such as mcpHandler(…): what it was given has no \`handle\``,
    );
}

/** Answers a web-standard request. For adapters of frameworks with `Request` and `Response`. */
export async function answerRequest(
  { handle }: { readonly handle: Handle },
  request: Request,
  asked: Asked,
): Promise<Response> {
  const gone = goneWith(request);
  const { signal } = gone;
  const reply = await handle({
    readBody: (limit, ask) => readStream(request, limit, ask),
    bytes: () => chunksOf(request.body),
    ...asked,
    method: request.method,
    query: new URL(request.url).searchParams,
    headers: Object.fromEntries(request.headers),
    signal,
  });
  return new Response(bodyOf(reply, gone), { status: reply.status, headers: reply.headers });
}

/**
 * Aborted when the client leaves. Its signal keeps the request: that of a request that was collected is not aborted any more. A
 * member and not an entry of a `WeakMap`, which young collections leave alone with all that a task of the request holds.
 */
function goneWith(request: Request): AbortController {
  const gone = new AbortController();
  const left = () => gone.abort(request.signal.reason);
  if (request.signal.aborted) left();
  else request.signal.addEventListener('abort', left, { once: true });
  Object.assign(gone.signal, { [requestOf]: request });
  return gone;
}

const requestOf = Symbol('request');

/**
 * The scheme that the client of a proxy used, where the owner trusts the proxy. Without it, a card behind a proxy that ends
 * TLS would send clients to `http://`.
 */
export const forwardedScheme = (header: string | null | undefined): 'http' | 'https' | undefined =>
  /^\s*(https?)\s*(,|$)/i.exec(header ?? '')?.[1]?.toLowerCase() as 'http' | 'https' | undefined;

/**
 * What a request without a connection says of the mount at `path`: its URL if the host is `trusted` or names this machine,
 * and whether the header `Host` names another. A request that has none was made in this process.
 */
export function webMountOf(
  { url, headers }: Request,
  { path, trusted }: { readonly path: string; readonly trusted: boolean },
): Pick<HttpExchange, 'baseUrl' | 'mayHaveForeignHost'> {
  const { host, protocol } = new URL(url);
  const scheme = (trusted && forwardedScheme(headers.get('x-forwarded-proto'))) || protocol.slice(0, -1);
  return {
    baseUrl: trusted || namesThisMachine(host) ? `${scheme}://${host}${path}` : undefined,
    mayHaveForeignHost: !trusted && !namesThisMachine(headers.get('host') ?? 'localhost'),
  };
}

/** The handler as a web-standard `fetch`, for every framework with `Request` and `Response`, mounted at a path. */
export function createFetch(handle: Handle, path: string): (request: Request) => Promise<Response> {
  const mount = path.replace(/(?<!\/)\/+$/, '');
  return async (request) => {
    const url = new URL(request.url);
    const below = pathBelow(mount, url);
    return answerRequest({ handle }, request, {
      path: below ?? url.pathname,
      isMountUnknown: mount === '',
      ...webMountOf(request, { path: mount, trusted: false }),
      ...(below === undefined && {
        refusal: new A2AError('METHOD_NOT_FOUND', `Nothing is mounted at ${url.pathname}`),
      }),
    });
  };
}

/**
 * The path below the mount, or the whole path if the mount was removed already. Undefined for a neighbour of the mount, whose
 * name begins with the same letters.
 */
function pathBelow(mount: string, { pathname }: URL): string | undefined {
  if (!pathname.startsWith(mount)) return pathname;
  const below = pathname.slice(mount.length);
  return below === '' || below.startsWith('/') ? below : undefined;
}

function bodyOf({ body: text, bytes }: HttpReply, gone: AbortController): BodyInit | null {
  const body: string | AsyncIterable<string | Uint8Array> | undefined = bytes ?? text;
  if (body === undefined || typeof body === 'string') return body ?? null;
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  // Not in `cancel`: a framework may drop the response of a client that has left without canceling it.
  const letGo = () => void iterator.return?.();
  if (gone.signal.aborted) letGo();
  else gone.signal.addEventListener('abort', letGo, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value);
    },
    cancel: () => gone.abort(),
  });
}
