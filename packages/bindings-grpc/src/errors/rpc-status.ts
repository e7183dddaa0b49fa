import type { ErrorDetail } from '@batonjs/protocol/errors';
import { decodeMessage } from '../wire/decode-message.ts';
import { encodeMessage } from '../wire/encode-message.ts';
import { type MessageType, messageTypes } from '../wire/message-types.ts';

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
