import { fromWire, type ProtobufVersion, toDetails, toHeaders } from '@batonjs/bindings';
import {
  A2AError,
  type ErrorDetail,
  type ErrorReason,
  errorTable,
  invalidParams,
  invalidRequest,
} from '@batonjs/protocol/errors';
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { type MessageType, messageTypes } from '../wire/message-types.ts';
import { WireProblem } from '../wire/wire-problem.ts';

const detailsKey = 'grpc-status-details-bin';
const maxMessage = 1_000;

/** The status that answers a call with an error, with its details in the trailers. Spec: §10.6. */
export function toStatus(
  thrown: unknown,
  extensions: readonly string[] = [],
  errors?: ProtobufVersion['errors'],
): StatusObject {
  const error = A2AError.from(thrown);
  const code = status[errorTable[error.reason].status];
  const details = (errors?.write(error) ?? error.message).slice(0, maxMessage);
  const metadata = new Metadata();
  metadata.set(detailsKey, encodeStatus(code, details, toDetails(error)));
  for (const [name, value] of Object.entries(toHeaders(error))) metadata.set(name, value);
  if (extensions.length > 0) metadata.set('a2a-extensions', extensions.join(', '));
  return { code, details, metadata };
}

const violationIn =
  (refused: typeof invalidRequest) =>
  (problem: unknown): unknown => {
    if (!(problem instanceof WireProblem)) return problem;
    const { field, description } = problem;
    return refused([{ field, description }]);
  };

/** The error for a request whose bytes are not its message, or hold what gRPC cannot carry. */
export const toRequestError = violationIn(invalidRequest);

/** The error for params that do not fit into their message. */
export const toParamsError = violationIn(invalidParams);

/** The error for a result that gRPC cannot carry, though other bindings can; any other problem is the server's own. */
export function toResultError(problem: unknown): unknown {
  if (!(problem instanceof WireProblem && problem.isLimit)) return problem;
  const { field, description } = problem;
  return new A2AError('UNSUPPORTED_OPERATION', `${field} ${description}: use another binding`);
}

const reasons: Partial<Record<status, ErrorReason>> = {
  [status.NOT_FOUND]: 'TASK_NOT_FOUND',
  [status.INVALID_ARGUMENT]: 'INVALID_PARAMS',
  [status.OUT_OF_RANGE]: 'INVALID_PARAMS',
  [status.FAILED_PRECONDITION]: 'UNSUPPORTED_OPERATION',
  [status.UNIMPLEMENTED]: 'METHOD_NOT_FOUND',
  [status.UNAUTHENTICATED]: 'UNAUTHENTICATED',
  [status.PERMISSION_DENIED]: 'PERMISSION_DENIED',
  [status.RESOURCE_EXHAUSTED]: 'RESOURCE_EXHAUSTED',
  [status.INTERNAL]: 'INTERNAL_ERROR',
  [status.UNKNOWN]: 'INTERNAL_ERROR',
  [status.DATA_LOSS]: 'INTERNAL_ERROR',
  [status.ABORTED]: 'UNAVAILABLE',
};

/** Statuses that grpc-js itself reports for a connection that failed. A server that names them sends details. */
const isLocal: ReadonlySet<status> = new Set([
  status.UNAVAILABLE,
  status.CANCELLED,
  status.DEADLINE_EXCEEDED,
]);

/**
 * The error of a call that failed: the agent's `A2AError`, or the error itself if the agent was out of reach, with the
 * system's code, such as `ECONNREFUSED`, if there is one. A `RangeError` if the answer has more than `maxBytes`.
 */
export function fromServiceError(
  error: ServiceError,
  maxBytes: number,
  errors?: ProtobufVersion['errors'],
): unknown {
  const { code, details: text, metadata } = error;
  const named = errors?.read(text);
  const message = named?.message ?? text;
  const [packed] = metadata?.get(detailsKey) ?? [];
  const details = Buffer.isBuffer(packed) ? decodeDetails(packed) : [];
  if (details.length === 0 && isLocal.has(code)) {
    const [, system] = /\b(E[A-Z]{3,}|EAI_[A-Z]+)\b/.exec(message) ?? [];
    return system ? Object.assign(new Error(message, { cause: error }), { code: system }) : error;
  }
  const [, limit] = /^Received message larger than max \(\d+ vs\.? (\d+)\)/.exec(message) ?? [];
  if (limit !== undefined)
    return Number(limit) === maxBytes ? new RangeError(message) : new A2AError('PAYLOAD_TOO_LARGE', message);
  const retryAfter = String(metadata?.get('retry-after')[0] ?? '');
  const wire = fromWire({ message, details, retryAfter });
  const [challenge] = metadata?.get('www-authenticate') ?? [];
  const hasInfo = details.some((detail) => isInfo(detail) && wire.reason !== 'INTERNAL_ERROR');
  const reason = hasInfo ? wire.reason : (named?.reason ?? reasons[code] ?? wire.reason);
  return new A2AError(reason, wire.message, {
    details: wire.details,
    metadata: wire.metadata,
    retryAfter: wire.retryAfter,
    ...(typeof challenge === 'string' && { challenge }),
  });
}

const isInfo = ({ '@type': type }: { readonly '@type': string }) => type.endsWith('/google.rpc.ErrorInfo');

/** The messages of `google.rpc` in which errors travel. Spec: §10.6. */
const rpc = messageTypes({
  Any: '1 type_url string, 2 value bytes',
  Status: '1 code int32, 2 message string, 3 details Any[]',
  ErrorInfo: '1 reason string, 2 domain string, 3 metadata string{}',
  FieldViolation: '1 field string, 2 description string',
  BadRequest: '1 field_violations FieldViolation[]',
  Duration: '1 seconds int32, 2 nanos int32',
  RetryInfo: '1 retry_delay Duration',
  // `google.protobuf.Struct`: a detail of another type travels as its JSON.
  Object: '1 fields Value{}',
});

const typePrefix = 'type.googleapis.com/';
const structType = `${typePrefix}google.protobuf.Struct`;
const detailTypes: Readonly<Record<string, MessageType>> = {
  [`${typePrefix}google.rpc.ErrorInfo`]: rpc.ErrorInfo,
  [`${typePrefix}google.rpc.BadRequest`]: rpc.BadRequest,
  [`${typePrefix}google.rpc.RetryInfo`]: rpc.RetryInfo,
};

/** The most bytes of details: clients refuse trailers that are larger than 8 KB in all. */
const maxBytes = 5_000;

/** The value of `grpc-status-details-bin`. Leaves out details, and violations, that would make it too large. */
export function encodeStatus(code: number, message: string, details: readonly ErrorDetail[]): Buffer {
  let left = maxBytes - message.length;
  const packed: { typeUrl: string; value: string }[] = [];
  for (const detail of details) {
    const bytes = shortened(detail, left);
    if (!bytes) continue;
    left -= bytes.length;
    const typeUrl = detailTypes[detail['@type']] ? detail['@type'] : structType;
    packed.push({ typeUrl, value: Buffer.from(bytes).toString('base64') });
  }
  return Buffer.from(encodeMessage(rpc.Status, { code, message, details: packed }));
}

/** The bytes of a detail, with fewer violations if they do not fit; undefined if it does not fit at all. */
function shortened(detail: ErrorDetail, left: number): Uint8Array | undefined {
  const type = detailTypes[detail['@type']];
  const bytes = type
    ? encodeMessage(type, asMessage(type, detail))
    : encodeMessage(rpc.Object, { fields: detail });
  if (bytes.length <= left) return bytes;
  const { fieldViolations } = detail;
  if (!Array.isArray(fieldViolations) || fieldViolations.length < 2) return undefined;
  return shortened(
    { ...detail, fieldViolations: fieldViolations.slice(0, fieldViolations.length >> 1) },
    left,
  );
}

/** A duration is text in JSON, such as `3s`. */
const asMessage = (type: MessageType, detail: ErrorDetail): object =>
  type === rpc.RetryInfo
    ? { retryDelay: { seconds: Math.ceil(Number.parseFloat(String(detail.retryDelay))) } }
    : detail;

function asJson(type: MessageType, message: Record<string, unknown>): Record<string, unknown> {
  if (type !== rpc.RetryInfo) return message;
  const { seconds = 0, nanos = 0 } = Object(message.retryDelay) as { seconds?: number; nanos?: number };
  return { retryDelay: `${seconds + nanos / 1e9}s` };
}

/** The details in a `grpc-status-details-bin`, as JSON. Those of types that are not known are left out; never throws. */
export function decodeDetails(bytes: Uint8Array): ErrorDetail[] {
  try {
    const { details = [] } = decodeMessage(rpc.Status, bytes) as {
      details?: { typeUrl?: string; value?: string }[];
    };
    return details.flatMap(({ typeUrl = '', value = '' }) => unpacked(typeUrl, Buffer.from(value, 'base64')));
  } catch {
    return [];
  }
}

function unpacked(typeUrl: string, value: Buffer): ErrorDetail[] {
  const name = typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
  const type = detailTypes[typePrefix + name];
  if (type) return [{ '@type': typePrefix + name, ...asJson(type, decodeMessage(type, value)) }];
  if (typePrefix + name !== structType) return [];
  const detail = decodeMessage(rpc.Object, value).fields as ErrorDetail | undefined;
  return typeof detail?.['@type'] === 'string' ? [detail] : [];
}
