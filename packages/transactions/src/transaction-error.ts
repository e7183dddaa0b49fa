/** Why a transaction was not committed, or may not have been. */
export type TransactionErrorCode =
  /** A later turn or attempt of the task was in the database before. Nothing was committed. */
  | 'FENCED'
  /** The connection broke during the commit, and the database did not say until the turn was over whether it happened. */
  | 'OUTCOME_UNKNOWN';

/** The error that `turn.transaction` rejects with by itself. Recognise it with `TransactionError.is`. */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  readonly code: TransactionErrorCode;

  constructor(code: TransactionErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Like `instanceof`, but also true across two copies of this package; with a code, of that code only. */
  static is(value: unknown, code?: TransactionErrorCode): value is TransactionError {
    const error = Object(value);
    return error.name === 'TransactionError' && (code === undefined || error.code === code);
  }
}
