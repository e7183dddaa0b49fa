import { CodedError } from '@batonjs/protocol/errors';

/** Why a call failed. */
export type CallErrorCode =
  /** The agent stayed out of reach for `unreachableMs`. Its task may go on; a later turn follows it again. */
  | 'UNREACHABLE'
  /** The agent answered with an error. */
  | 'REFUSED'
  /** The agent no longer knows the task, so how far it came is not known. The call does not start it again. */
  | 'TASK_LOST'
  /** The process died, or the connection broke, while it sent the message to an agent without idempotency. */
  | 'OUTCOME_UNKNOWN'
  /** The child took longer than `timeoutMs`. It was canceled. */
  | 'TIMEOUT'
  /** The card or a reply of the agent cannot be used. */
  | 'UNUSABLE'
  /** The task is `depth` tasks below the first one already. */
  | 'TOO_DEEP'
  /** The task started as many children as it may. */
  | 'TOO_MANY_CALLS';

/** A call to another agent failed. A child that ended, FAILED or otherwise, is a reply and no error. */
export class CallError extends CodedError<CallErrorCode> {
  static override readonly title = 'CallError';
  /** The name of the call. */
  readonly call: string;

  constructor(code: CallErrorCode, call: string, problem: string, cause?: unknown) {
    super(code, `The call ${JSON.stringify(call)} failed: ${problem}`, cause);
    this.call = call;
  }
}
