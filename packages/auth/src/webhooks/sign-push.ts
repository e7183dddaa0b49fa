import { type JWK, SignJWT } from 'jose';
import { signingKey } from '../keys/signing-key.ts';

/** The header for the JWT of a delivery whose `Authorization` is already in use. */
export const NOTIFICATION_JWT = 'X-A2A-Notification-JWT';

/** A delivery to sign. The server passes it to `push.sign`. */
export interface PushDelivery {
  /** The claims to sign: `jti`, `aud`, `iat`, `exp`, `taskId` and the hash of the body. */
  readonly claims: object;
  /** Whether `Authorization` carries the credentials that the webhook was registered with. */
  readonly authorized: boolean;
}

/** Options of `signPush`. */
export interface SignPushOptions {
  /** A private JWK with `kid`; publish its public half with `jwksHandler`. */
  readonly key: JWK;
  /** The `iss` that receivers expect, such as the agent's URL. */
  readonly issuer: string;
}

/**
 * Creates a function that signs deliveries to webhooks: pass it to the server as `push.sign`. The JWT travels as
 * `Authorization: Bearer`, or in `X-A2A-Notification-JWT` if the webhook was registered with its own credentials.
 * Throws `TypeError` for a key that cannot sign. Spec: §13.2.
 */
export function signPush({ key, issuer }: SignPushOptions) {
  const signer = signingKey(key);
  return async ({ claims, authorized }: PushDelivery): Promise<Record<string, string>> => {
    const { kid, alg } = signer;
    const jwt = await new SignJWT({ ...claims, iss: issuer })
      .setProtectedHeader({ alg, kid, typ: 'JWT' })
      .sign(await signer.key);
    return authorized ? { [NOTIFICATION_JWT.toLowerCase()]: jwt } : { authorization: `Bearer ${jwt}` };
  };
}
