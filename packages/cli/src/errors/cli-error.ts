import { A2AError, ClientError, type ErrorReason } from '@batonjs/client';
import { CodedError, errorTable } from '@batonjs/protocol/errors';

/** The codes of conditions outside of a request, with the exit code of each. Nothing else may begin with this prefix. */
const cliErrors = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;

export type CliErrorCode = keyof typeof cliErrors;

/** Why a command failed before, after or instead of a request. */
export class CliError extends CodedError<CliErrorCode> {
  static override readonly title = 'CliError';
  /** One next step, best a command. */
  readonly hint: string | undefined;

  constructor(code: CliErrorCode, message: string, hint?: string, cause?: unknown) {
    super(code, message, cause);
    this.hint = hint;
  }
}

export const usage = (message: string, hint?: string): CliError =>
  new CliError('A2ACLI_ERR_USAGE', message, hint);

/** How a command failed: what replaces the result in JSON, and its exit code, which agree. */
export interface Failure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly a2aCode: string | number | null;
  };
  readonly exitCode: number;
}

/** Facts about the command that failed. */
export interface FailureContext {
  /** The binding in use, if there was a connection. */
  readonly binding?: string | undefined;
  /** Whether credentials were sent. */
  readonly hasCredentials?: boolean;
  /** A next step for errors that have none of their own. */
  readonly hint?: string | undefined;
}

/** A2A's error names: `TASK_NOT_FOUND` is `TaskNotFoundError`. */
const names: Partial<Record<ErrorReason, string>> = {
  PARSE_ERROR: 'JSONParseError',
  METHOD_NOT_ALLOWED: 'MethodNotFoundError',
  UNSUPPORTED_MEDIA_TYPE: 'ContentTypeNotSupportedError',
  INTERNAL_ERROR: 'InternalError',
};

/** Errors that A2A does not define keep their own name, under a prefix of their own. */
const vendors: readonly ErrorReason[] = [
  'MESSAGE_ID_CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
  'TASK_GENERATION_MISMATCH',
];

const nameOf = (reason: ErrorReason): string => {
  if (vendors.includes(reason)) return `BATON_${reason}`;
  const words = reason.toLowerCase().split('_');
  return (
    names[reason] ?? `${words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')}Error`
  ).replace(/ErrorError$/, 'Error');
};

/** The code that the transport itself gives an error. */
function transportCode(reason: ErrorReason, binding: string | undefined): string | number | null {
  const { jsonRpc, http, status } = errorTable[reason];
  if (binding === 'JSONRPC') return jsonRpc;
  if (binding === 'HTTP+JSON') return http;
  return binding === 'GRPC' ? status : null;
}

const clientCodes: Partial<Record<ClientError['code'], CliErrorCode>> = {
  NETWORK: 'A2ACLI_ERR_UNREACHABLE',
  TIMEOUT: 'A2ACLI_ERR_TIMEOUT',
  CREDENTIALS: 'A2ACLI_ERR_CREDENTIALS_MISSING',
  INVALID_URL: 'A2ACLI_ERR_CARD_NOT_FOUND',
  INVALID_CARD: 'A2ACLI_ERR_CARD_INVALID',
  UNTRUSTED_CARD: 'A2ACLI_ERR_CARD_INVALID',
  NO_INTERFACE: 'A2ACLI_ERR_CARD_INVALID',
};

const hints: Partial<Record<CliErrorCode, string>> = {
  A2ACLI_ERR_UNREACHABLE: 'Check the address, and that the agent runs',
  A2ACLI_ERR_CARD_NOT_FOUND: 'Check the reference: a host, the URL of a card, or a file',
  A2ACLI_ERR_CREDENTIALS_MISSING: 'Give --bearer or --api-key, or run auth login',
  A2ACLI_ERR_AUTH_FAILED: 'Check the credentials',
};

const reasonHints: Partial<Record<ErrorReason, string>> = {
  TASK_NOT_FOUND: 'Check the id: task list has the tasks that this caller may see',
  TASK_NOT_CANCELABLE: 'Nothing is left to cancel: task get shows what came of it',
  UNSUPPORTED_OPERATION:
    'See card get for what the agent can do; for a task that has ended, begin another one',
  RESOURCE_EXHAUSTED: 'Try again later',
  UNAVAILABLE: 'Try again later',
};

/** What users see of an error. Only errors that were foreseen say what happened. */
export function toFailure(error: unknown, context: FailureContext = {}): Failure {
  if (A2AError.is(error)) return toProtocolFailure(error, context);
  const { code, message, hint } = toCliError(error);
  const shown = { code, message, hint: hint ?? context.hint ?? hints[code] ?? null, a2aCode: null };
  return { error: shown, exitCode: cliErrors[code] };
}

function toCliError(error: unknown): Pick<CliError, 'code' | 'message' | 'hint'> {
  if (error instanceof CliError) return error;
  if (ClientError.is(error)) {
    // The address answers, but not with a card.
    const isMissing = error.code === 'INVALID_CARD' && / answers (404|410) with /.test(error.message);
    const code = isMissing ? 'A2ACLI_ERR_CARD_NOT_FOUND' : clientCodes[error.code];
    return { code: code ?? 'A2ACLI_ERR_INTERNAL', message: error.message, hint: undefined };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'A2ACLI_ERR_INTERNAL', message, hint: 'Run the command again with --debug' };
}

function toProtocolFailure(
  { reason, message }: A2AError,
  { binding, hasCredentials = false, hint: ofContext }: FailureContext,
): Failure {
  const a2aCode = transportCode(reason, binding);
  if (reason === 'UNAUTHENTICATED' || reason === 'PERMISSION_DENIED') {
    const code = hasCredentials ? 'A2ACLI_ERR_AUTH_FAILED' : 'A2ACLI_ERR_CREDENTIALS_MISSING';
    return { error: { code, message, hint: hints[code]!, a2aCode }, exitCode: cliErrors[code] };
  }
  const hint = ofContext ?? reasonHints[reason] ?? 'Run the command again with --debug';
  return { error: { code: nameOf(reason), message, hint, a2aCode }, exitCode: 1 };
}
