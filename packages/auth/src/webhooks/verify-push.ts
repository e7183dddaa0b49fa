import { A2AError } from '@batonjs/protocol/errors';
import { DELIVERY_ID } from '@batonjs/protocol/headers';
import { type JWTPayload, jwtVerify } from 'jose';
import { algorithms } from '../keys/algorithms.ts';
import { areEqual, sha256, toHex } from '../keys/digest.ts';
import { type KeySet, type KeySetCaching, keyFinder } from '../keys/key-set.ts';
import { isFaultOfToken } from '../keys/token-fault.ts';
import { NOTIFICATION_JWT } from './sign-push.ts';

/** How old a delivery may be, whatever it says itself. */
const longestSeconds = 600;

/** Whose deliveries are genuine. */
export interface VerifyPushOptions {
  /** The `iss` of the agent, as it was agreed. */
  readonly issuer: string | readonly string[];
  /** The URL of this webhook as it was registered. */
  readonly audience: string | readonly string[];
  /** The agent's keys, or the https address where it publishes them. */
  readonly jwks: KeySet;
  readonly caching?: KeySetCaching;
  /** How far clocks may differ, in seconds. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

/** A delivery as it arrived. */
export interface ReceivedPush {
  readonly headers: { get(name: string): string | null };
  /** The text of the body, exactly as it arrived. */
  readonly body: string;
  /** The task that the body is about, for whoever has read it. */
  readonly taskId?: string;
}

/**
 * What checks deliveries signed with `signPush`: that the agent sent this body, to this webhook, not long ago. Pass it to
 * `webhookReceiver` as `verify`. Resolves to the claims; rejects for what is not genuine, with `UNAVAILABLE` if the keys
 * cannot be had. That a delivery came before is for the receiver to notice, by its id, which is signed too. Spec: §13.2.
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
    const encoder = new TextEncoder();
    const said = encoder.encode(String(payload.request_body_sha256));
    if (!areEqual(encoder.encode(toHex(await sha256(body))), said))
      throw new Error('The signature is that of another body');
    return payload;
  };
}
