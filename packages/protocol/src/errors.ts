/** The `google.rpc.Code` names that A2A errors use. */
export type StatusName =
  | 'INVALID_ARGUMENT'
  | 'NOT_FOUND'
  | 'ALREADY_EXISTS'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'ABORTED'
  | 'UNIMPLEMENTED'
  | 'INTERNAL'
  | 'UNAVAILABLE'
  | 'UNAUTHENTICATED';

/** One error: its code on every binding, its default message, and the domain that defines it. */
export interface ErrorRow {
  readonly jsonRpc: number;
  readonly http: number;
  readonly status: StatusName;
  readonly message: string;
  /** `ErrorInfo.domain`; {@link A2A_DOMAIN} when absent. */
  readonly domain?: string;
}

/** `ErrorInfo.domain` of the errors that the specification defines, those of JSON-RPC included. Spec: §9.5, §11.6. */
export const A2A_DOMAIN = 'a2a-protocol.org';

/** `ErrorInfo.domain` of the errors that Baton adds. */
export const BATON_DOMAIN = 'batonjs.dev';

const domain = BATON_DOMAIN;

// biome-ignore format: a table reads best with one row per line
/** Every error that can cross the wire, by its `ErrorInfo.reason`. A new error is one row. Spec: §5.4, §9.5, §11.6. */
export const errorTable = {
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, status: 'NOT_FOUND', message: 'Task not found' },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400, status: 'FAILED_PRECONDITION', message: 'Task cannot be canceled' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonRpc: -32003, http: 400, status: 'FAILED_PRECONDITION', message: 'Push notifications are not supported' },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, status: 'FAILED_PRECONDITION', message: 'This operation is not supported' },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 400, status: 'INVALID_ARGUMENT', message: 'Content type is not supported' },
  INVALID_AGENT_RESPONSE: { jsonRpc: -32006, http: 500, status: 'INTERNAL', message: 'The agent produced an invalid response' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonRpc: -32007, http: 400, status: 'FAILED_PRECONDITION', message: 'No extended agent card is configured' },
  EXTENSION_SUPPORT_REQUIRED: { jsonRpc: -32008, http: 400, status: 'FAILED_PRECONDITION', message: 'A required extension was not requested' },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, status: 'FAILED_PRECONDITION', message: 'Protocol version is not supported' },
  TASK_GENERATION_MISMATCH: { jsonRpc: -32010, http: 409, status: 'ABORTED', message: 'Task has changed' },
  PARSE_ERROR: { jsonRpc: -32700, http: 400, status: 'INVALID_ARGUMENT', message: 'Invalid JSON payload' },
  INVALID_REQUEST: { jsonRpc: -32600, http: 400, status: 'INVALID_ARGUMENT', message: 'Request payload validation error' },
  METHOD_NOT_FOUND: { jsonRpc: -32601, http: 404, status: 'UNIMPLEMENTED', message: 'Method not found' },
  METHOD_NOT_ALLOWED: { jsonRpc: -32601, http: 405, status: 'UNIMPLEMENTED', message: 'Method not allowed', domain },
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, status: 'INVALID_ARGUMENT', message: 'Invalid parameters' },
  INTERNAL_ERROR: { jsonRpc: -32603, http: 500, status: 'INTERNAL', message: 'Internal error' },
  UNAUTHENTICATED: { jsonRpc: -32600, http: 401, status: 'UNAUTHENTICATED', message: 'Authentication required', domain },
  PERMISSION_DENIED: { jsonRpc: -32600, http: 403, status: 'PERMISSION_DENIED', message: 'Permission denied', domain },
  MESSAGE_ID_CONFLICT: { jsonRpc: -32602, http: 409, status: 'ALREADY_EXISTS', message: 'Another message was already sent with this messageId', domain },
  PAYLOAD_TOO_LARGE: { jsonRpc: -32600, http: 413, status: 'INVALID_ARGUMENT', message: 'Request body is too large', domain },
  UNSUPPORTED_MEDIA_TYPE: { jsonRpc: -32600, http: 415, status: 'INVALID_ARGUMENT', message: 'Unsupported media type', domain },
  RESOURCE_EXHAUSTED: { jsonRpc: -32603, http: 429, status: 'RESOURCE_EXHAUSTED', message: 'Too many requests', domain },
  UNAVAILABLE: { jsonRpc: -32603, http: 503, status: 'UNAVAILABLE', message: 'Temporarily unavailable', domain },
} as const satisfies Record<string, ErrorRow>;

/** Names an error: `ErrorInfo.reason` on the wire. */
export type ErrorReason = keyof typeof errorTable;

/** A structured detail: a `google.rpc` type as JSON. */
export type ErrorDetail = { readonly '@type': string; readonly [member: string]: unknown };

/** A member of a request that is wrong: its path, such as `message.parts[0].text`, and the rule that it breaks. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** What an {@link A2AError} may carry besides its reason and message. */
export interface A2AErrorOptions {
  /** Further `google.rpc` details, without `ErrorInfo`, which is made from the reason and the metadata. */
  readonly details?: readonly ErrorDetail[];
  /** `ErrorInfo.metadata`: flat, non-secret facts such as `{ taskId }`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Seconds after which the client may retry; sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** The `WWW-Authenticate` header of the reply. */
  readonly challenge?: string;
  /** The error behind this one. It is never sent. */
  readonly cause?: unknown;
}

/** An error that says by a `code` what went wrong. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** The `name` of the errors: a bundler may have given the class another one. */
  static readonly title: string = 'CodedError';
  readonly code: Code;

  constructor(code: Code, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.title;
    this.code = code;
  }

  /**
   * Whether a value is an error of this class; with a code, whether it is one with that code. Unlike `instanceof`, it also
   * recognises errors of another copy of the package.
   */
  static is<E extends CodedError>(
    this: { readonly title: string; readonly prototype: E },
    value: unknown,
    code?: E['code'],
  ): value is E {
    const error = Object(value);
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked.
    return error.name === this.title && (code === undefined || error.code === code);
  }
}

const brand = Symbol.for('batonjs.A2AError');

/**
 * The only error that crosses the wire. The peer sees its `message`, `metadata` and `details`, never its `cause`. Spec: §3.3.2.
 */
export class A2AError extends Error {
  override readonly name = 'A2AError';
  readonly reason: ErrorReason;
  readonly details: readonly ErrorDetail[];
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly retryAfter: number | undefined;
  readonly challenge: string | undefined;

  constructor(
    reason: ErrorReason,
    message: string = errorTable[reason].message,
    { details = [], metadata, retryAfter, challenge, cause }: A2AErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.details = details;
    this.metadata = metadata;
    this.retryAfter = retryAfter;
    this.challenge = challenge;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Whether the value is an A2AError, also one of another copy of this package; with a reason, only for that reason. */
  static is(value: unknown, reason?: ErrorReason): value is A2AError {
    if (typeof value !== 'object' || value === null || !(brand in value)) return false;
    return reason === undefined || (value as Partial<A2AError>).reason === reason;
  }

  /** The error itself; anything else becomes an `INTERNAL_ERROR` that shows nothing of it and keeps it as its `cause`. */
  static from(thrown: unknown): A2AError {
    return A2AError.is(thrown) ? thrown : new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
  }
}

/** Whether the same request would be refused again, and not only at this time. */
export const isPermanent = ({ reason }: A2AError): boolean =>
  errorTable[reason].http < 500 && reason !== 'RESOURCE_EXHAUSTED';

const badRequest =
  (reason: 'INVALID_PARAMS' | 'INVALID_REQUEST') =>
  (fieldViolations: readonly FieldViolation[]): A2AError =>
    new A2AError(reason, summary(reason, fieldViolations), {
      details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }],
    });

/** The standard message with the first violation, because many clients print the message only. */
function summary(reason: ErrorReason, [first, ...others]: readonly FieldViolation[]): string {
  const { message } = errorTable[reason];
  if (!first) return message;
  const { field, description } = first;
  const what = field === '' ? description : `${field} ${description}`;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `${message}: ${what.length > maxSummary ? `${what.slice(0, maxSummary)}…` : what}${more}`;
}

/** At most this many characters of a violation go into the message: a client chooses the names in the path. */
const maxSummary = 200;

/**
 * `INVALID_PARAMS` for an operation's request object. The message names the first violation, the detail
 * `google.rpc.BadRequest` names all.
 */
export const invalidParams = badRequest('INVALID_PARAMS');

/**
 * `INVALID_REQUEST` for the envelope around the request object. The message names the first violation, the detail
 * `google.rpc.BadRequest` names all.
 */
export const invalidRequest = badRequest('INVALID_REQUEST');
