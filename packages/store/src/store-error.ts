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
  /** The commit contradicts itself; a mistake of the caller. */
  | 'INVALID_COMMIT'
  /** The store cannot be reached, did not answer in time, or its medium failed. */
  | 'UNAVAILABLE'
  /** The store cannot be used as it is configured, or was written by a newer release. */
  | 'UNUSABLE';

/** What stores reject with. Recognise it by `code`; it never crosses the wire. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Whether this is a store's refusal of that kind, whichever copy of this package made it. */
export const isStoreError = (error: unknown, code: StoreErrorCode): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === code;
