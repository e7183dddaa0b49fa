import type { HttpReply } from '@batonjs/bindings';
import type { Handle } from './http-exchange.ts';
import { readStream } from './request-body.ts';

/** The handler as a web-standard `fetch`, for every framework with `Request` and `Response`. */
export function createFetch(handle: Handle, mount: string): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url);
    const gone = new AbortController();
    const below =
      mount !== '' && url.pathname.startsWith(mount) ? url.pathname.slice(mount.length) : url.pathname;
    const reply = await handle({
      method: request.method,
      path: below,
      query: url.searchParams,
      headers: Object.fromEntries(request.headers),
      readBody: (limit, ask) => readStream(request, limit, ask),
      isMountUnknown: mount === '',
      baseUrl: isLoopback(url.hostname) ? `${url.origin}${mount}` : undefined,
      signal: AbortSignal.any([request.signal, gone.signal]),
    });
    return new Response(bodyOf(reply, gone), { status: reply.status, headers: reply.headers });
  };
}

/** Whether a host name is this machine's own. */
const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(\.\d{1,3}){3}\]?)$/i.test(hostname) ||
  hostname.endsWith('.localhost');

function bodyOf({ body }: HttpReply, gone: AbortController): BodyInit | null {
  if (body === undefined || typeof body === 'string') return body ?? null;
  const iterator = body[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    cancel() {
      gone.abort();
      void iterator.return?.();
    },
  });
}
