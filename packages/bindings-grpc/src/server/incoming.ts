import type { IncomingCall } from '@batonjs/bindings';
import type { Metadata } from '@grpc/grpc-js';
import { toRequestError } from '../errors/wire-error.ts';
import { decodeMessage } from '../wire/decode-message.ts';
import type { Method } from '../wire/service.ts';

/** The call in a request of gRPC. Its message is read when the caller is known. */
export function toIncoming(
  { operation, path, request: type, translation }: Method,
  version: string,
  request: Buffer,
  metadata: Metadata,
  signal: AbortSignal,
): IncomingCall {
  const headers = headersOf(metadata);
  return {
    operation,
    binding: 'GRPC',
    version,
    path,
    headers,
    signal,
    lastEventId: headers['last-event-id'] ?? translation?.impliedPosition,
    readParams() {
      try {
        const params = decodeMessage(type, request);
        return translation ? translation.readParams(params) : params;
      } catch (problem) {
        throw toRequestError(problem);
      }
    },
  };
}

/** The metadata that is text, repeated values joined with a comma. */
function headersOf(metadata: Metadata): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    if (name.endsWith('-bin')) continue;
    headers[name] = Array.isArray(values) ? values.join(', ') : String(values);
  }
  return headers;
}
