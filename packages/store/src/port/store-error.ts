import { CodedError } from '@batonjs/protocol/errors';

/** Why a store refused a call. After `UNAVAILABLE` a write may have happened; after the others it has not. */
export type StoreErrorCode =
  /** The log does not have the length that the writer expected. */
  | 'VERSION_CONFLICT'
  /** The log is closed. */
  | 'LOG_CLOSED'
  /** The writer does not hold the lease of the task, or has lost it. */
  | 'FENCED'
  /** The facts asked for were pruned. */
  | 'LOG_GAP'
  /** Stored data is damaged and cannot be read. */
  | 'UNREADABLE'
  /** The queue has as many waiting tasks as the commit allows. */
  | 'QUEUE_FULL'
  /** The log does not hold the commit that the reader knows at a position: facts were lost. */
  | 'LOG_DIVERGED'
  /** The log that the reader knows was deleted, by `erase` or `prune`. */
  | 'LOG_DELETED'
  /** The commit contradicts itself: an error of the caller. */
  | 'INVALID_COMMIT'
  /** The name or the value of a record cannot be kept: an error of the caller. */
  | 'INVALID_RECORD'
  /** The store cannot be reached, did not answer in time, or failed. */
  | 'UNAVAILABLE'
  /** The store cannot be used as it is configured, or was written by another release. */
  | 'UNUSABLE';

/** The reason why a store cannot write, if it knows. */
export type StoreTrouble =
  /** The disk is full. */
  | 'disk-full'
  /** The memory of the database is full. */
  | 'out-of-memory'
  /** The file, its disk or the server takes no writes. */
  | 'read-only'
  /** The database is configured as a cache, and may delete tasks to free memory. */
  | 'may-evict'
  /** Another process holds the lock that writers need. */
  | 'locked';

/** The error that stores reject with. Recognise it with `StoreError.is`; it never crosses the wire. */
export class StoreError extends CodedError<StoreErrorCode> {
  static override readonly title = 'StoreError';
  readonly trouble: StoreTrouble | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    { trouble, cause }: ErrorOptions & { trouble?: StoreTrouble | undefined } = {},
  ) {
    super(code, message, cause);
    this.trouble = trouble;
  }
}

/** The error that `readFacts` rejects with if the log does not hold the commit that the reader knows at a position. */
export const diverged = (taskId: string, position: number): StoreError =>
  new StoreError('LOG_DIVERGED', `The log of task ${taskId} does not hold what it held at ${position}`);
