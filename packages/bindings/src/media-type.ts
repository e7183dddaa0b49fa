import { A2AError } from '@batonjs/protocol/errors';
import { A2A_JSON, JSON_TYPE, mediaTypeOf } from '@batonjs/protocol/headers';
import type { HttpRequest } from './http.ts';

/** Throws `CONTENT_TYPE_NOT_SUPPORTED` unless the body is declared as JSON; parameters such as `charset` are ignored. Spec: §5.4. */
export function requireJson({ headers }: HttpRequest): void {
  const type = mediaTypeOf(headers['content-type']);
  if (type === JSON_TYPE || type === A2A_JSON) return;
  const given = type ? `is ${type.slice(0, 100)}` : 'is missing';
  throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', `The Content-Type ${given}; send ${JSON_TYPE}`);
}

/** The type of a reply on HTTP+JSON: `application/a2a+json`, unless the client accepts only `application/json`. Spec: §11.1. */
export function replyType({ headers: { accept = '' } }: HttpRequest): string {
  return accept.includes(JSON_TYPE) && !/a2a\+json|\*\/\*|application\/\*/.test(accept)
    ? JSON_TYPE
    : A2A_JSON;
}
