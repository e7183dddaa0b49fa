import { CodedError } from '@batonjs/protocol/errors';

/**
 * Why a call failed. Its code is the gateway's, such as `TASK_CONFLICT`; `NETWORK` if the gateway cannot be reached.
 * Recognise it with `TaskError.is(error, code?)`.
 */
export class TaskError extends CodedError<string> {
  static override readonly title = 'TaskError';
}
