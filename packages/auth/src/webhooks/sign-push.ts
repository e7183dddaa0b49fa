import { type JWK, SignJWT } from 'jose';
import { signingKey } from '../keys/signing-key.ts';

/** Header that carries the JWT of a delivery whose `Authorization` is taken. */
export const NOTIFICATION_JWT = 'X-A2A-Notification-JWT';

/** What a delivery to a webhook says about itself; a server's push hands it to its `sign`. */
export interface PushDelivery {
  /** `jti`, `aud`, `iat`, `exp`, `taskId` and the hash of the body. */
  readonly claims: object;
  /** `Authorization` is taken by credentials that the webhook was registered with. */
  readonly authorized: boolean;
}

/** Who signs deliveries. */
export interface SignPushOptions {
  /** A private JWK with `kid`; publish its public half with `jwksHandler`. */
  readonly key: JWK;
  /** The `iss` that receivers expect, such as the agent's URL. */
  readonly issuer: string;
}

/**
 * What signs deliveries to webhooks: pass it to the server as `push.sign`. The JWT travels as `Authorization: Bearer`, or
 * in `X-A2A-Notification-JWT` where a webhook was registered with credentials of its own. Throws `TypeError` for a key
 * that cannot sign. Spec: §13.2.
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
