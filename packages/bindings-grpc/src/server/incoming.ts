import { type CallTarget, checkJson, type IncomingCall, type ProtobufPeer } from '@batonjs/bindings';
import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { toRequestError } from '../errors/wire-error.ts';
import type { Method } from '../wire/a2a-service.ts';
import { decodeMessage } from '../wire/decode-message.ts';
import { isArrived } from './arrivals.ts';

/** The members of a call of grpc-js with one request. */
type ReceivedMessage = Pick<ServerUnaryCall<Buffer, unknown>, 'request' | 'metadata' | 'getPeer'>;

/** The call in a request of gRPC. Its message is read when the caller is known. */
export function toIncoming(
  { operation, path, request: type, translation }: Method,
  version: string,
  call: ReceivedMessage,
  signal: AbortSignal,
  { jsonValues: maxValues }: CallTarget['limits'],
): IncomingCall {
  const headers = headersOf(call.metadata);
  return {
    operation,
    binding: 'GRPC',
    version,
    path,
    headers,
    remoteAddress: addressIn(call.getPeer()),
    signal,
    lastEventId: headers['last-event-id'] ?? translation?.impliedPosition,
    readParams() {
      isArrived(call.metadata);
      try {
        const { pageSize, ...rest } = decodeMessage(type, call.request, maxValues);
        // Clients send 0 for a page size that is not set.
        const params = pageSize ? { pageSize, ...rest } : rest;
        checkJson(params, { maxValues });
        return translation ? translation.readParams(params, peerOf(call)) : params;
      } catch (problem) {
        throw toRequestError(problem);
      }
    },
  };
}

/** The client that calls, as it names itself. */
export function peerOf({ metadata }: Pick<ReceivedMessage, 'metadata'>): ProtobufPeer {
  const [userAgent] = metadata.get('user-agent');
  return { userAgent: userAgent?.toString() };
}

/** The address in `address:port`; undefined for the path of a Unix socket. */
const addressIn = (peer: string): string | undefined => /^(.+):\d+$/.exec(peer)?.[1];

/** The metadata that is text, repeated values joined with a comma. */
function headersOf(metadata: Metadata): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(metadata.toHttp2Headers())) {
    if (name.endsWith('-bin')) continue;
    headers[name] = Array.isArray(values) ? values.join(', ') : String(values);
  }
  return headers;
}
