import { A2AError } from '@batonjs/protocol/errors';
import { DELIVERY_ID } from '@batonjs/protocol/headers';
import { isSameText } from '@batonjs/protocol/security';
import { type JWTPayload, jwtVerify } from 'jose';
import { sha256, toHex } from '../keys/digest.ts';
import { type KeySet, type KeySetCaching, keyFinder } from '../keys/key-set.ts';
import { algorithms, isFaultOfToken } from '../keys/token-fault.ts';
import { NOTIFICATION_JWT } from './sign-push.ts';

/** The maximum age of a delivery in seconds, whatever its `exp`. */
const longestSeconds = 600;

/** Options of `verifyPush`. */
export interface VerifyPushOptions {
  /** The required `iss`: the one that the agent signs with. */
  readonly issuer: string | readonly string[];
  /** The required `aud`: the URL that this webhook was registered with. */
  readonly audience: string | readonly string[];
  /** The agent's keys, or the https URL that publishes them. */
  readonly jwks: KeySet;
  /** How long published keys are cached. */
  readonly caching?: KeySetCaching | undefined;
  /** The accepted difference between clocks in seconds. Default 5. */
  readonly clockToleranceSeconds?: number | undefined;
  /** The current time in milliseconds since 1970; for tests. */
  readonly now?: (() => number) | undefined;
}

/** A delivery as the receiver got it. */
export interface ReceivedPush {
  readonly headers: { get(name: string): string | null };
  /** The text of the body, unchanged: the signature covers its exact bytes. */
  readonly body: string;
  /** The task that the body is about. If given, it must match the signed one. */
  readonly taskId?: string;
}

/**
 * Creates a function that verifies deliveries signed with `signPush`: the agent sent this body to this webhook within
 * the last 10 minutes. Pass it to `webhookReceiver` as `verify`. It resolves to the claims. It rejects for a delivery
 * that is not genuine, and with `UNAVAILABLE` if the keys cannot be fetched. It does not detect repeated deliveries:
 * the receiver does, by their id, which is signed as well. Spec: §13.2.
 */
export function verifyPush(options: VerifyPushOptions): (push: ReceivedPush) => Promise<JWTPayload> {
  const findKey = keyFinder(options.jwks, options.caching);
  return async ({ headers, body, taskId }) => {
    const [, bearer] = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? [];
    const token = headers.get(NOTIFICATION_JWT) ?? bearer;
    if (!token) throw new Error('The delivery is not signed');
    const { payload } = await jwtVerify(token, findKey, {
      algorithms: [...algorithms],
      issuer: typeof options.issuer === 'string' ? options.issuer : [...options.issuer],
      audience: typeof options.audience === 'string' ? options.audience : [...options.audience],
      requiredClaims: ['exp', 'iat', 'jti', 'taskId', 'request_body_sha256'],
      clockTolerance: options.clockToleranceSeconds ?? 5,
      maxTokenAge: longestSeconds,
      ...(options.now && { currentDate: new Date(options.now()) }),
    }).catch((error: unknown) => {
      if (isFaultOfToken(error)) throw error;
      throw new A2AError('UNAVAILABLE', 'The signature cannot be checked', { cause: error });
    });
    if (payload.jti !== headers.get(DELIVERY_ID))
      throw new Error('The signature is that of another delivery');
    if (taskId !== undefined && payload.taskId !== taskId)
      throw new Error('The signature is that of another task');
    if (!isSameText(toHex(await sha256(body)), String(payload.request_body_sha256)))
      throw new Error('The signature is that of another body');
    return payload;
  };
}
