import type { HttpReply } from '@batonjs/bindings';
import { JSON_TYPE } from '@batonjs/protocol/headers';

/** An error as JSON, where no binding is spoken. */
export const refusal = (code: number, message: string, headers: HttpReply['headers'] = {}): HttpReply => ({
  status: code,
  headers: { 'content-type': JSON_TYPE, ...headers },
  body: JSON.stringify({ error: { code, message } }),
});
