import type { IncomingMessage } from 'node:http';
import { JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import { tryJson } from '@batonjs/protocol/json';
import { RequestError } from './reply.ts';

/** The largest body of a request in bytes: a message with a file or two. */
const maxBytes = 24 * 1024 * 1024;

/** The body of a request as JSON. A parser of the framework may have read it. Rejects with a `RequestError`. */
export async function readJson(request: IncomingMessage & { readonly body?: unknown }): Promise<unknown> {
  if (mediaTypeOf(request.headers['content-type']) !== JSON_TYPE)
    throw new RequestError(415, 'The body must be JSON');
  if (request.readableEnded) return request.body;
  const chunks: Buffer[] = [];
  let length = 0;
  // The connection stays open for the answer that refuses the rest.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RequestError(413, `The body has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const value = tryJson(Buffer.concat(chunks).toString());
  if (value === undefined) throw new RequestError(400, 'The body is no JSON');
  return value;
}
