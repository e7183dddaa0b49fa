import { StoreError } from '@batonjs/store';
import { status } from '@grpc/grpc-js';

/** Codes after which another member, or the same one a moment later, may answer. */
const passing: readonly unknown[] = [
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.UNKNOWN,
  status.INTERNAL,
];

/** What an error of gRPC has. */
const codeOf = (error: unknown): unknown => Object(error).code;
const detailsOf = (error: unknown): string => String(Object(error).details || error);

/** Whether the call may succeed when it is repeated. It may have been executed. */
export const isPassing = (error: unknown): boolean =>
  passing.includes(codeOf(error)) || /too many requests/.test(detailsOf(error));

/** Whether the user has to log in again: tokens expire, and do not outlive a change of the user. */
export const isTokenExpired = (error: unknown): boolean =>
  /invalid auth token|revision of auth store is old/.test(detailsOf(error));

/** Whether a key was to be written under a lease that is over. Nothing was executed. */
export const isLeaseGone = (error: unknown): boolean => /lease not found/.test(detailsOf(error));

/** Whether the state that was asked for is compacted away. */
export const isCompacted = (error: unknown): boolean =>
  codeOf(error) === status.OUT_OF_RANGE && /compacted/.test(detailsOf(error));

/** Whether the request is larger than members take. Nothing of it was executed. */
export const isTooLarge = (error: unknown): boolean =>
  /request is too large|received message larger than max/.test(detailsOf(error));

const isFull = (error: unknown): boolean => /database space exceeded/.test(detailsOf(error));

/** The error that a call rejects with. A `StoreError` stays as it is. */
export function translated(name: string, error: unknown): StoreError {
  if (StoreError.is(error)) return error;
  const code = codeOf(error);
  const details = detailsOf(error);
  const refuse = (storeCode: StoreError['code'], why: string, trouble?: StoreError['trouble']) =>
    new StoreError(storeCode, `${name} ${why}`, { cause: error, trouble });
  if (isFull(error))
    return refuse(
      'UNAVAILABLE',
      'takes no writes: its database has reached its quota. Compact and defragment it, or raise the quota, then disarm NOSPACE',
      'disk-full',
    );
  if (isTooLarge(error))
    return refuse(
      'INVALID_COMMIT',
      'takes no request of this size: its --max-request-bytes is below the default',
    );
  if (code === status.PERMISSION_DENIED || code === status.UNAUTHENTICATED)
    return refuse('UNUSABLE', `refuses this user: ${details}`);
  if (code === status.DATA_LOSS) return refuse('UNAVAILABLE', `has an alarm: ${details}`);
  return refuse('UNAVAILABLE', `does not answer, or has no majority: ${details}`);
}
