import { A2AError } from '@batonjs/client';
import type { AgentServer, HttpExchange } from '@batonjs/server';

type Handle = AgentServer['handle'];

/** A web-standard handler as one that adapters of HTTP frameworks mount. A body is read when the handler reads it. */
export const handleOf =
  (fetch: (request: Request) => Promise<Response>, bodyBytes: number): Handle =>
  async (exchange) => {
    const response = await fetch(requestOf(exchange, bodyBytes));
    const { status, headers, body } = response;
    const isStream = headers.get('content-type')?.startsWith('text/event-stream');
    return {
      status,
      headers: Object.fromEntries(headers),
      ...(body && { body: isStream ? body.pipeThrough(new TextDecoderStream()) : await response.text() }),
    };
  };

function requestOf(exchange: HttpExchange, bodyBytes: number): Request {
  const { method, baseUrl = 'http://localhost', path, query, headers, signal } = exchange;
  const url = new URL(`${baseUrl}${path}`);
  url.search = query.toString();
  const init = { method, headers: headersOf(headers), signal };
  if (method === 'GET' || method === 'HEAD') return new Request(url, init);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        controller.enqueue(await bytesOf(exchange, bodyBytes));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Request(url, { ...init, body, duplex: 'half' } as RequestInit);
}

/** The body, also one that a framework has parsed. Throws `PAYLOAD_TOO_LARGE` and `UNSUPPORTED_MEDIA_TYPE`. */
async function bytesOf({ readBody }: HttpExchange, bodyBytes: number): Promise<Uint8Array> {
  const body = await readBody(bodyBytes, async () => {});
  if (!body || 'longerThan' in body)
    throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${bodyBytes} bytes`);
  if ('encoding' in body) throw new A2AError('UNSUPPORTED_MEDIA_TYPE', 'The body is compressed');
  return 'bytes' in body ? body.bytes : new TextEncoder().encode(JSON.stringify(body.value));
}

function headersOf(headers: HttpExchange['headers']): Headers {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) given.set(name, value);
  return given;
}
