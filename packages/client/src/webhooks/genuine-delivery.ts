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
   * genuine, and rejects with an `A2AError` `UNAVAILABLE` if it cannot decide now: the agent then sends the delivery again.
   */
  readonly verify?: ((delivery: WebhookDelivery) => unknown) | undefined;
}

/** Creates the checks whether a delivery comes from the agent. Throws `TypeError` if no secret or check is given. */
export function genuineDelivery({ token, authentication, verify }: WebhookSecrets) {
  if (token === undefined && authentication === undefined && verify === undefined)
    throw new TypeError('A webhook needs `token`, `authentication` or `verify`: anybody can call it');

  /** Whether the headers have the secrets. Without the id of a task, those that depend on it need only be there. */
  async function hasSecrets(headers: WebhookDelivery['headers'], taskId?: string): Promise<boolean> {
    const has = async <T>(known: PerTask<T>, isSame: (secret: T | undefined) => unknown) => {
      if (typeof known !== 'function') return isSame(known);
      return taskId === undefined || isSame(await (known as (taskId: string) => T)(taskId));
    };
    const sent = headers.get(NOTIFICATION_TOKEN) ?? headers.get(BARE_NOTIFICATION_TOKEN);
    if (token !== undefined && (sent !== null || !authentication))
      if (sent === null || !(await has(token, (secret) => areSame(sent, secret)))) return false;
    if (authentication === undefined) return true;
    const [, given, rest = ''] = /^(\S+) *(.*)$/.exec(headers.get('authorization') ?? '') ?? [];
    if (given === undefined) return false;
    const isSame = ({ scheme, credentials = '' }: Partial<AuthenticationInfo> = {}) =>
      scheme?.toLowerCase() === given.toLowerCase() && areSame(rest, credentials);
    return Boolean(await has(authentication, isSame));
  }

  return {
    /** What can be said before the body is read. */
    byHeaders: (headers: WebhookDelivery['headers']) => hasSecrets(headers),

    async byAll(delivery: WebhookDelivery): Promise<boolean> {
      if (!(await hasSecrets(delivery.headers, delivery.taskId))) return false;
      if (!verify) return true;
      try {
        return (await verify(delivery)) !== false;
      } catch (error) {
        // The agent must retry a delivery that cannot be verified now.
        if (A2AError.is(error, 'UNAVAILABLE')) throw error;
        return false;
      }
    },
  };
}

/** Compares digests, so that the time of the comparison reveals nothing about the secret. */
async function areSame(given: string, expected: string | undefined): Promise<boolean> {
  if (expected === undefined) return false;
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [a, b] = await Promise.all([digest(given), digest(expected)]);
  const theirs = new Uint8Array(b);
  return new Uint8Array(a).reduce((difference, byte, n) => difference | (byte ^ (theirs[n] ?? 0)), 0) === 0;
}
