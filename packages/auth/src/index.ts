export { type ApiKeyLocation, type ApiKeyOptions, apiKey } from './callers/api-key.ts';
export * from './callers/authenticator.ts';
export { type BearerJwtOptions, bearerJwt } from './callers/bearer-jwt.ts';
export { type SignCardOptions, signCard } from './cards/sign-card.ts';
export {
  CardSignatureError,
  type CardSignatureProblem,
  type CardTrust,
  type VerifiedCard,
  verifyCard,
} from './cards/verify-card.ts';
export { jwksHandler, type KeySet, type KeySetCaching, publicKeys } from './keys/key-set.ts';
export { NOTIFICATION_JWT, type PushDelivery, type SignPushOptions, signPush } from './webhooks/sign-push.ts';
export { type ReceivedPush, type VerifyPushOptions, verifyPush } from './webhooks/verify-push.ts';
