export {
  type AddressPolicy,
  type AddressPolicyOptions,
  AddressRefused,
  type AddressRefusedCode,
  addressPolicy,
  type Destination,
} from './address-policy/address-policy.ts';
export { type FetchedFile, type FetchFileOptions, fetchFile } from './address-policy/fetch-file.ts';
export type { Resolve } from './address-policy/resolve-host.ts';
export { checkedFetch, type SafeFetchOptions, safeFetch } from './address-policy/safe-fetch.ts';
