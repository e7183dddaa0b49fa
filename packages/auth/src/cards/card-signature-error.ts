/**
 * Why a card is not trusted: `UNSIGNED`, it has no signature; `UNTRUSTED_KEY`, no trusted key signed it;
 * `INVALID_SIGNATURE`, a signature does not match the card; `KEYS_UNAVAILABLE`, the trusted keys could not be fetched.
 */
export type CardSignatureProblem = 'UNSIGNED' | 'UNTRUSTED_KEY' | 'INVALID_SIGNATURE' | 'KEYS_UNAVAILABLE';

/** The error of `verifyCard`: the card is not trusted. Recognise it with `CardSignatureError.is(error, code?)`. */
export class CardSignatureError extends Error {
  override readonly name = 'CardSignatureError';
  readonly code: CardSignatureProblem;

  constructor(code: CardSignatureProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }

  /**
   * Whether a value is a `CardSignatureError`; with a code, whether it is one with that code. Unlike `instanceof`, it
   * also recognises errors of another copy of this package.
   */
  static is(value: unknown, code?: CardSignatureProblem): value is CardSignatureError {
    const error = value as CardSignatureError | null | undefined;
    return error?.name === 'CardSignatureError' && (code === undefined || error.code === code);
  }
}
