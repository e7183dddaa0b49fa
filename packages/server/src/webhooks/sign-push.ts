/** The claims of a delivery, under the names that JWTs use. */
export interface PushClaims {
  /** Id of the delivery, the same for every attempt. */
  readonly jti: string;
  /** URL of the webhook. */
  readonly aud: string;
  /** When the attempt was made, and when it expires: seconds since 1970. */
  readonly iat: number;
  readonly exp: number;
  readonly taskId: string;
  /** SHA-256 over the body, in hexadecimal. */
  readonly request_body_sha256: string;
}

/** One attempt that is about to be sent. */
export interface UnsignedDelivery {
  readonly claims: PushClaims;
  readonly body: string;
  /** The webhook was registered with credentials of its own: `Authorization` carries those instead of the signer's. */
  readonly authorized: boolean;
}

/**
 * Signs a delivery: resolves to headers that are sent with it, such as an `authorization` with a JWT over the claims.
 * One that rejects is tried again like a webhook that does not answer.
 */
export type SignPush = (
  delivery: UnsignedDelivery,
) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
