/** The agent in development does not run: its message says why, for the assistant. */
export class NotRunning extends Error {
  override readonly name = 'NotRunning';

  static is(error: unknown): error is NotRunning {
    return error instanceof NotRunning;
  }
}
