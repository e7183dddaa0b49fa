export {
  type AddressPolicy,
  type AddressPolicyOptions,
  addressPolicy,
  type Destination,
} from './address-policy/address-policy.ts';
export { AddressRefused, type AddressRefusedCode } from './address-policy/address-refused.ts';
export { checkedFetch } from './address-policy/checked-fetch.ts';
export { type FetchedFile, type FetchFileOptions, fetchFile } from './address-policy/fetch-file.ts';
export type { Resolve } from './address-policy/resolve-host.ts';
export { type SafeFetchOptions, safeFetch } from './address-policy/safe-fetch.ts';
