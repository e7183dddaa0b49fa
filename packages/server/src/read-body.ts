import { isUtf8 } from 'node:buffer';
import { type JsonBody, jsonBody } from '@batonjs/bindings';
import { A2AError } from '@batonjs/protocol/errors';
import type { Body, HttpExchange } from './http-exchange.ts';
import type { Limits } from './settings.ts';

/** The body of a request, as far as it has one. Throws `PAYLOAD_TOO_LARGE`, or `PARSE_ERROR` if it is not UTF-8. */
export async function readBody(
  { method, headers, readBody }: HttpExchange,
  { bodyBytes, jsonDepth }: Limits,
): Promise<JsonBody | undefined> {
  if (method !== 'POST') return undefined;
  const declared = Number(headers['content-length']);
  const body = (declared > bodyBytes ? undefined : await readBody(bodyBytes)) ?? { longerThan: bodyBytes };
  if ('longerThan' in body)
    throw new A2AError('PAYLOAD_TOO_LARGE', `The body is larger than ${body.longerThan} bytes`);
  return jsonBody('bytes' in body ? { text: toText(body.bytes) } : body, { maxDepth: jsonDepth });
}

function toText(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new A2AError('PARSE_ERROR', 'The body is not UTF-8');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Reads a web stream for `readBody`. */
export async function readStream(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Body | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return { bytes: Buffer.concat(chunks) };
}
