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
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: CallErrorCode;
  /** The name of the call. */
  readonly call: string;

  constructor(code: CallErrorCode, call: string, problem: string, cause?: unknown) {
    super(`The call ${JSON.stringify(call)} failed: ${problem}`, { cause });
    this.code = code;
    this.call = call;
  }

  /** Whether the value is a CallError, also one of another copy of this package; of this code if one is given. */
  static is(value: unknown, code?: CallErrorCode): value is CallError {
    const { name, code: found } = Object(value) as { name?: unknown; code?: unknown };
    return name === 'CallError' && (code === undefined || found === code);
  }
}
