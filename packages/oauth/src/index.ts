export { type OAuthCredentials, oauth } from './oauth.ts';
export * from './options.ts';
export { memoryTokenStore, type StoredToken, type TokenStore } from './tokens/token-store.ts';
