import { toHeaders } from '@batonjs/bindings';
import { A2AError, errorTable } from '@batonjs/protocol/errors';
import { StoreError } from '@batonjs/store';

/** The errors of the gateway's own, and the HTTP status of each. */
const statuses = {
  INVALID_REQUEST: 400,
  TASK_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TASK_CONFLICT: 409,
  TASK_NOT_CANCELABLE: 409,
  INPUT_NOT_EXPECTED: 409,
} as const;

/** Why a request is refused. Its message is shown to the client. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal';
  readonly code: keyof typeof statuses;
  /** The header `Allow` of a `METHOD_NOT_ALLOWED`. */
  readonly allow: string | undefined;

  constructor(code: keyof typeof statuses, message: string, allow?: string) {
    super(message);
    this.code = code;
    this.allow = allow;
  }
}

/** An error as clients see it. */
export interface WireError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What clients see of an error. Nothing from inside: an unknown one is an `INTERNAL_ERROR`. */
export function toWireError(error: unknown): WireError {
  if (error instanceof GatewayRefusal) {
    const { code, message, allow } = error;
    return { status: statuses[code], code, message, headers: allow ? { allow } : {} };
  }
  if (StoreError.is(error, 'UNAVAILABLE')) return unavailable;
  const refused = A2AError.from(error);
  const { reason, message } = refused;
  if (reason === 'MESSAGE_ID_CONFLICT')
    return toWireError(
      new GatewayRefusal('TASK_CONFLICT', 'The task exists with another type or other data'),
    );
  const isBody = reason === 'PARSE_ERROR' || reason === 'INVALID_PARAMS';
  return {
    status: errorTable[reason].http,
    code: isBody ? 'INVALID_REQUEST' : reason,
    message,
    headers: toHeaders(refused),
  };
}

const unavailable: WireError = {
  status: 503,
  code: 'UNAVAILABLE',
  message: errorTable.UNAVAILABLE.message,
  headers: { 'retry-after': '1' },
};

/**
 * Whether an error is the gateway's fault, so that its operator should see it. That a gateway which closes is not available
 * is none.
 */
export const isFault = ({ status }: WireError, isOpen: boolean): boolean =>
  status >= 500 && (isOpen || status !== unavailable.status);
