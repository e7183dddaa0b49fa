/** What went wrong on this side of the wire. */
export type ClientErrorCode =
  /** The agent could not be reached, or the connection broke. */
  | 'NETWORK'
  /** The deadline of the call passed. A task it started lives on. */
  | 'TIMEOUT'
  /** The caller's own signal was aborted; its reason is the `cause`. */
  | 'ABORTED'
  | 'RESPONSE_TOO_LARGE'
  /** The hook that gives the credentials failed; its error is the `cause`. */
  | 'CREDENTIALS'
  /** The address given to `connect` is not the `http:` or `https:` URL of an agent. */
  | 'INVALID_URL'
  /** What stands at the card's address is no agent card. */
  | 'INVALID_CARD'
  /** The card was refused by `verifyCard`; its error is the `cause`. */
  | 'UNTRUSTED_CARD'
  /** The card lists no interface that this client speaks, or none that it may use. */
  | 'NO_INTERFACE'
  /** A step of a `TaskGraph` did not come to a good end; the `cause` says how. */
  | 'STEP_FAILED';

/** A failure that never was on the wire. What an agent answered is an `A2AError` instead. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /** Like `instanceof`, but also true across two copies of this package; with a code, of that code only. */
  static is(value: unknown, code?: ClientErrorCode): value is ClientError {
    const error = value as ClientError | null | undefined;
    return error?.name === 'ClientError' && (code === undefined || error.code === code);
  }
}
