/** Why a call failed. Recognise it with `TaskError.is(error, code?)`. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
  /** The gateway's code, such as `TASK_CONFLICT`; `NETWORK` if the gateway cannot be reached. */
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Whether a value is a `TaskError`, also one of another copy of this package; with a code, one with that code. */
  static is(value: unknown, code?: string): value is TaskError {
    const error = value as TaskError | null | undefined;
    return error?.name === 'TaskError' && (code === undefined || error.code === code);
  }
}
