import type { IncomingCall } from '@batonjs/bindings';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import type { Metadata } from '@grpc/grpc-js';
import { toRequestError } from '../errors/wire-error.ts';
import type { Method } from '../wire/a2a-service.ts';
import { decodeMessage } from '../wire/decode-message.ts';

/** The call in a request of gRPC. Its message is read when the caller is known. */
export const toIncoming = (
  { operation, path, request: type }: Method,
  request: Buffer,
  metadata: Metadata,
  signal: AbortSignal,
): IncomingCall => ({
  operation,
  version: PROTOCOL_VERSION,
  path,
  headers: headersOf(metadata),
  signal,
  readParams() {
    try {
      return decodeMessage(type, request);
    } catch (problem) {
      throw toRequestError(problem);
    }
  },
});

/** The metadata that is text, repeated values joined with a comma. */
function headersOf(metadata: Metadata): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    if (name.endsWith('-bin')) continue;
    headers[name] = Array.isArray(values) ? values.join(', ') : String(values);
  }
  return headers;
}
