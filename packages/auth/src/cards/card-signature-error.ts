import { CodedError } from '@batonjs/protocol/errors';

/**
 * Why a card is not trusted: `UNSIGNED`, it has no signature; `UNTRUSTED_KEY`, no trusted key signed it;
 * `INVALID_SIGNATURE`, a signature does not match the card; `KEYS_UNAVAILABLE`, the trusted keys could not be fetched.
 */
export type CardSignatureProblem = 'UNSIGNED' | 'UNTRUSTED_KEY' | 'INVALID_SIGNATURE' | 'KEYS_UNAVAILABLE';

/** The error of `verifyCard`: the card is not trusted. Recognise it with `CardSignatureError.is(error, code?)`. */
export class CardSignatureError extends CodedError<CardSignatureProblem> {
  static override readonly title = 'CardSignatureError';
}
