import type { HttpReply } from '@batonjs/bindings';
import type { WireError } from '../tasks/gateway-refusal.ts';

export const errorReply = ({ status, code, message, headers }: WireError): HttpReply =>
  jsonReply(status, { error: { code, message } }, headers);

export const jsonReply = (
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpReply => ({
  status,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  },
  body: JSON.stringify(value),
});
