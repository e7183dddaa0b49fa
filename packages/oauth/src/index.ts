export { type OAuthCredentials, oauth } from './oauth.ts';
export {
  type Authorize,
  type DeviceCode,
  type OAuthClient,
  OAuthError,
  type OAuthErrorCode,
  type OAuthOptions,
} from './options.ts';
export { memoryTokenStore, type StoredToken, type TokenStore } from './tokens/token-store.ts';
