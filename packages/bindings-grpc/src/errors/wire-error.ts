import { toDetails, toHeaders } from '@batonjs/bindings';
import { A2AError, errorTable, invalidRequest } from '@batonjs/protocol/errors';
import { Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { WireProblem } from '../wire/wire-problem.ts';
import { encodeStatus } from './rpc-status.ts';

const detailsKey = 'grpc-status-details-bin';
const maxMessage = 1_000;

/** The status that answers a call with an error, with its details in the trailers. Spec: §10.6. */
export function toStatus(thrown: unknown, extensions: readonly string[] = []): StatusObject {
  const error = A2AError.from(thrown);
  const code = status[errorTable[error.reason].status];
  const details = error.message.slice(0, maxMessage);
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

/** The error for a result that gRPC cannot carry, though other bindings can; any other problem is the server's own. */
export function toResultError(problem: unknown): unknown {
  if (!(problem instanceof WireProblem && problem.isLimit)) return problem;
  const { field, description } = problem;
  return new A2AError('UNSUPPORTED_OPERATION', `${field} ${description}: use another binding`);
}
