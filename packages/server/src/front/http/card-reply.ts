import type { HttpReply } from '@batonjs/bindings';
import { A2A_EXTENSIONS, A2A_VERSION, JSON_TYPE } from '@batonjs/protocol/headers';
import { sha256 } from '#bytes';
import type { HttpExchange } from './request-body.ts';

/** The reply to a GET of the public card; 304 if the client has it already. Spec: §8.6. */
export const cardReply = (card: object, exchange: HttpExchange): HttpReply =>
  revalidated(
    {
      status: 200,
      headers: {
        'content-type': JSON_TYPE,
        'cache-control': 'public, max-age=60',
        vary: A2A_VERSION,
        'access-control-allow-origin': '*',
      },
      body: JSON.stringify(card),
    },
    exchange,
  );

/** The reply with an extended card, which only the cache of its caller may keep. Spec: §13.3. */
export const extendedCardReply = (
  reply: HttpReply,
  exchange: HttpExchange,
  credentialHeaders: readonly string[],
): HttpReply =>
  revalidated(
    {
      ...reply,
      headers: {
        ...reply.headers,
        'cache-control': 'private, max-age=60',
        vary: [A2A_VERSION, A2A_EXTENSIONS, ...credentialHeaders].join(', '),
      },
    },
    exchange,
  );

/** The reply with its `ETag`: 304 if the client has it, without a body for HEAD. */
export function revalidated(reply: HttpReply, { headers, method }: HttpExchange): HttpReply {
  const { body } = reply;
  if (typeof body !== 'string' || (method !== 'GET' && method !== 'HEAD')) return reply;
  const etag = `"${sha256(body, 'base64url').slice(0, 22)}"`;
  const { 'content-type': type, ...caching } = reply.headers;
  if (matches(headers['if-none-match'], etag)) return { status: 304, headers: { ...caching, etag } };
  return { ...reply, headers: { ...reply.headers, etag }, ...(method === 'HEAD' && { body: undefined }) };
}

const matches = (known = '', etag: string): boolean =>
  known.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')));
