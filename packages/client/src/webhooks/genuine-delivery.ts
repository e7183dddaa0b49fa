import type { AuthenticationInfo } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { BARE_NOTIFICATION_TOKEN, NOTIFICATION_TOKEN } from '@batonjs/protocol/headers';

/** A delivery as it arrived. */
export interface WebhookDelivery {
  readonly taskId: string;
  /** The same in every attempt; absent if the agent does not say it. */
  readonly id: string | undefined;
  readonly headers: { get(name: string): string | null };
  /** Exactly as it arrived. */
  readonly body: string;
}

/** The same for all tasks, or found by the id of the task; undefined refuses it. */
type PerTask<T> = T | ((taskId: string) => T | undefined | Promise<T | undefined>);

/** How a delivery shows that it comes from the agent. At least one is needed, and all that are given must fit. */
export interface WebhookSecrets {
  /** The `token` of the webhook as it was registered. */
  readonly token?: PerTask<string>;
  /** The `authentication` of the webhook as it was registered. */
  readonly authentication?: PerTask<AuthenticationInfo>;
  /**
   * Another check, such as `verifyPush` of `@batonjs/auth`: rejects or says false for what is not genuine. An `A2AError`
   * `UNAVAILABLE` says that it cannot be told now.
   */
  readonly verify?: (delivery: WebhookDelivery) => unknown;
}

/** Tells deliveries of the agent from others. Throws `TypeError` without a way to tell. */
export function genuineDelivery({ token, authentication, verify }: WebhookSecrets) {
  if (token === undefined && authentication === undefined && verify === undefined)
    throw new TypeError('A webhook needs `token`, `authentication` or `verify`: anybody can call it');
  return async (delivery: WebhookDelivery): Promise<boolean> => {
    const { headers, taskId } = delivery;
    const of = <T>(known: PerTask<T>) =>
      typeof known === 'function' ? (known as (taskId: string) => T)(taskId) : known;
    if (token !== undefined) {
      const given = headers.get(NOTIFICATION_TOKEN) ?? headers.get(BARE_NOTIFICATION_TOKEN);
      if (!(await areSame(given, await of(token)))) return false;
    }
    if (authentication !== undefined) {
      const { scheme, credentials = '' } = (await of(authentication)) ?? {};
      const [, given, rest = ''] = /^(\S+) *(.*)$/.exec(headers.get('authorization') ?? '') ?? [];
      if (!scheme || given?.toLowerCase() !== scheme.toLowerCase()) return false;
      if (!(await areSame(rest, credentials))) return false;
    }
    if (!verify) return true;
    try {
      return (await verify(delivery)) !== false;
    } catch (error) {
      // That it cannot be told now is no reason for the agent to give up.
      if (A2AError.is(error, 'UNAVAILABLE')) throw error;
      return false;
    }
  };
}

/** Compares digests, so that the time it takes tells nothing about the secret. */
async function areSame(given: string | null, expected: string | undefined): Promise<boolean> {
  if (given === null || expected === undefined) return false;
  const digest = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const [a, b] = await Promise.all([digest(given), digest(expected)]);
  const theirs = new Uint8Array(b);
  return new Uint8Array(a).reduce((difference, byte, n) => difference | (byte ^ (theirs[n] ?? 0)), 0) === 0;
}
