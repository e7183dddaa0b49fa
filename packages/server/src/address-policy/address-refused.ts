/** A URL leads where the policy does not let it. Recognise it by its `code`. Says nothing that is secret about the URL. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';
}

/** Whether this is a refusal of an address policy, whichever copy of this package made it. */
export const isAddressRefused = (error: unknown): error is AddressRefused =>
  error instanceof Error && 'code' in error && error.code === 'ADDRESS_REFUSED';
