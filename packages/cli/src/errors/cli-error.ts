import { CodedError } from '@batonjs/protocol/errors';

/** The codes of conditions outside of a request, with the exit code of each. Nothing else may begin with this prefix. */
export const cliErrors = {
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
