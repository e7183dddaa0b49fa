/** Why a store refused. `UNAVAILABLE`: nobody knows whether it was done; the others: it was not. */
export type StoreErrorCode =
  /** The log is not as long as the writer thought. */
  | 'VERSION_CONFLICT'
  /** The log is closed. */
  | 'LOG_CLOSED'
  /** The writer does not hold the task, or holds it no more. */
  | 'FENCED'
  /** Facts that were asked for are not kept any more. */
  | 'LOG_GAP'
  /** What is stored cannot be read: it is damaged, and no JSON any more. */
  | 'UNREADABLE'
  /** As many tasks of the queue wait for a turn as may. */
  | 'QUEUE_FULL'
  /** The log does not hold the commit that the reader knows at that position: it lost facts, or is gone. */
  | 'LOG_DIVERGED'
  /** The commit contradicts itself; a mistake of the caller. */
  | 'INVALID_COMMIT'
  /** The store cannot be reached, did not answer in time, or its medium failed. */
  | 'UNAVAILABLE'
  /** The store cannot be used as it is configured, or was written by a newer release. */
  | 'UNUSABLE';

/** What keeps a store from writing, where it knows. */
export type StoreTrouble =
  /** The disk has no room. */
  | 'disk-full'
  /** The memory of the database is full. */
  | 'out-of-memory'
  /** The file, its disk or the server takes no writes. */
  | 'read-only'
  /** The database may delete tasks to make room: it is configured for a cache. */
  | 'may-evict'
  /** Another process holds the lock that writers need. */
  | 'locked';

/** What stores reject with. Recognise it with `StoreError.is`; it never crosses the wire. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly trouble: StoreTrouble | undefined;

  constructor(
    code: StoreErrorCode,
    message: string,
    { trouble, ...options }: ErrorOptions & { trouble?: StoreTrouble | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
    this.trouble = trouble;
  }

  /** Like `instanceof`, but also true across two copies of this package; with a code, of that code only. */
  static is(value: unknown, code?: StoreErrorCode): value is StoreError {
    const error = value as StoreError | null | undefined;
    return error?.name === 'StoreError' && (code === undefined || error.code === code);
  }
}

/** What `readFacts` rejects with when the log does not hold the commit that the reader knows at that position. */
export const diverged = (taskId: string, position: number): StoreError =>
  new StoreError('LOG_DIVERGED', `The log of task ${taskId} does not hold what it held at ${position}`);
