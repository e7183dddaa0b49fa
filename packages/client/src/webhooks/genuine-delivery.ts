import type { AuthenticationInfo } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { BARE_NOTIFICATION_TOKEN, NOTIFICATION_TOKEN } from '@batonjs/protocol/headers';

/** A delivery as the receiver got it. */
export interface WebhookDelivery {
  readonly taskId: string;
  /** The id of the delivery, equal in every attempt; undefined if the agent sends none. */
  readonly id: string | undefined;
  readonly headers: { get(name: string): string | null };
  /** The body, unchanged: signatures cover its exact text. */
  readonly body: string;
}

/** One value for all tasks, or a function that finds it by the task's id. Undefined refuses the delivery. */
type PerTask<T> = T | ((taskId: string) => T | undefined | Promise<T | undefined>);

/**
 * How a delivery proves that it comes from the agent. At least one is required, and every given one must match. Only a
 * `token` beside `authentication` may be missing from a delivery: the specification lets an agent send either.
 */
export interface WebhookSecrets {
  /** The `token` that the webhook was registered with. */
  readonly token?: PerTask<string> | undefined;
  /** The `authentication` that the webhook was registered with. */
  readonly authentication?: PerTask<AuthenticationInfo> | undefined;
  /**
   * Another check, such as `verifyPush` of `@batonjs/auth`. It rejects or returns `false` for a delivery that is not
   * genuine, and rejects with an `A2AError` `UNAVAILABLE` if it cannot decide now: the agent then sends the delivery
   * again.
   */
  readonly verify?: ((delivery: WebhookDelivery) => unknown) | undefined;
}

/** Creates the check whether a delivery comes from the agent. Throws `TypeError` if no secret or check is given. */
export function genuineDelivery({ token, authentication, verify }: WebhookSecrets) {
  if (token === undefined && authentication === undefined && verify === undefined)
    throw new TypeError('A webhook needs `token`, `authentication` or `verify`: anybody can call it');
  return async (delivery: WebhookDelivery): Promise<boolean> => {
    const { headers, taskId } = delivery;
    const secretOf = <T>(known: PerTask<T>) =>
      typeof known === 'function' ? (known as (taskId: string) => T)(taskId) : known;
    const sent = headers.get(NOTIFICATION_TOKEN) ?? headers.get(BARE_NOTIFICATION_TOKEN);
    if (token !== undefined && (sent !== null || !authentication)) {
      if (!(await areSame(sent, await secretOf(token)))) return false;
    }
    if (authentication !== undefined) {
      const { scheme, credentials = '' } = (await secretOf(authentication)) ?? {};
      const [, given, rest = ''] = /^(\S+) *(.*)$/.exec(headers.get('authorization') ?? '') ?? [];
      if (!scheme || given?.toLowerCase() !== scheme.toLowerCase()) return false;
      if (!(await areSame(rest, credentials))) return false;
    }
    if (!verify) return true;
    try {
      return (await verify(delivery)) !== false;
    } catch (error) {
      // The agent must retry a delivery that cannot be verified now.
      if (A2AError.is(error, 'UNAVAILABLE')) throw error;
      return false;
    }
  };
}

/** Compares digests, so that the time of the comparison reveals nothing about the secret. */
async function areSame(given: string | null, expected: string | undefined): Promise<boolean> {
  if (given === null || expected === undefined) return false;
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [a, b] = await Promise.all([digest(given), digest(expected)]);
  const theirs = new Uint8Array(b);
  return new Uint8Array(a).reduce((difference, byte, n) => difference | (byte ^ (theirs[n] ?? 0)), 0) === 0;
}
