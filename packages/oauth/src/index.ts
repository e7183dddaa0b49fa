export { type OAuthCredentials, oauth } from './oauth.ts';
export { OAuthError, type OAuthErrorCode } from './oauth-error.ts';
export type { Authorize, DeviceCode, OAuthClient, OAuthOptions } from './options.ts';
export { memoryTokenStore, type StoredToken, type TokenStore } from './tokens/token-store.ts';
