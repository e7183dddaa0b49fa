import { fromWire, type ProtobufVersion, toDetails, toHeaders } from '@batonjs/bindings';
import {
  A2AError,
  type ErrorReason,
  errorTable,
  invalidParams,
  invalidRequest,
} from '@batonjs/protocol/errors';
import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { WireProblem } from '../wire/wire-problem.ts';
import { decodeDetails, encodeStatus } from './rpc-status.ts';

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

/** The error for a request whose bytes are not its message, or hold what gRPC cannot carry. */
export function toRequestError(problem: unknown): unknown {
  if (!(problem instanceof WireProblem)) return problem;
  const { field, description } = problem;
  return invalidRequest([{ field, description }]);
}

/** The error for params that do not fit into their message. */
export function toParamsError(problem: unknown): unknown {
  if (!(problem instanceof WireProblem)) return problem;
  const { field, description } = problem;
  return invalidParams([{ field, description }]);
}

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
