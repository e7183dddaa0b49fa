/**
 * Why a card is not to be trusted: it has no signature, none by a key that is trusted, none that fits what it says, or the
 * keys could not be had.
 */
export type CardSignatureProblem = 'UNSIGNED' | 'UNTRUSTED_KEY' | 'INVALID_SIGNATURE' | 'KEYS_UNAVAILABLE';

/** A card that is not to be trusted. Recognise it by its `code`. */
export class CardSignatureError extends Error {
  override readonly name = 'CardSignatureError';
  readonly code: CardSignatureProblem;

  constructor(code: CardSignatureProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
