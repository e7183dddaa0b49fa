import { CodedError } from '@batonjs/protocol/errors';

/** Why a transaction was not committed, or may not have been. */
export type TransactionErrorCode =
  /** A later turn or attempt of the task was in the database before. Nothing was committed. */
  | 'FENCED'
  /** The connection broke during the commit, and the database did not say until the turn was over whether it happened. */
  | 'OUTCOME_UNKNOWN';

/** The error that `turn.transaction` rejects with by itself. Recognise it with `TransactionError.is`. */
export class TransactionError extends CodedError<TransactionErrorCode> {
  static override readonly title = 'TransactionError';
}
