/** The one code that an `AddressRefused` has. */
export type AddressRefusedCode = 'ADDRESS_REFUSED';

/**
 * An address policy refuses a URL. Its message holds nothing secret of the URL. Recognise it with `AddressRefused.is`.
 */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code: AddressRefusedCode = 'ADDRESS_REFUSED';

  /** Like `instanceof`, but also true across two copies of this package. */
  static is(value: unknown, code?: AddressRefusedCode): value is AddressRefused {
    const error = value as AddressRefused | null | undefined;
    return error?.name === 'AddressRefused' && (code === undefined || error.code === code);
  }
}

/** The message for an address of this machine or of a private network. */
export const notPublic = 'must lead to a public address';
