import { withDefaults } from '@batonjs/protocol/options';
import type { Backoff } from '@batonjs/protocol/timing';
import { mustBePositive } from '../base/defaults.ts';
import type { AddressPolicyOptions } from './address-policy/address-policy.ts';
import type { SignPush } from './sign-push.ts';
import type { PushUpdates } from './wanted-update.ts';

/** When a delivery is tried again, with the defaults. All times in milliseconds. */
export const pushRetry = {
  /**
   * The longest wait after the first failure; it doubles with each further one. Waits are random below that. Default
   * 1,000.
   */
  baseDelayMs: 1_000,
  /** No wait is longer, not even if the webhook asks for it. Default 1 hour. */
  maxDelayMs: 3_600_000,
  /** After so many failures in a row the webhook is given up. Default 40. */
  maxAttempts: 40,
  /**
   * After so many redirects and refusals (4xx) in a row the webhook is given up. Redirects, 404 and 410 may be the
   * answers of a proxy while its service is deployed; other refusals concern one update, which is skipped. Default 8.
   */
  maxRejections: 8,
  /** An update that is older than this is not tried again after a failure. Default 24 hours. */
  maxAgeMs: 86_400_000,
};

export type PushRetry = Readonly<typeof pushRetry>;

/** How webhooks are delivered to, with the defaults. */
export const pushOptions = {
  /** Whether public webhooks may be without TLS. Default false. */
  http: false,
  /**
   * Which updates are delivered. Default `'default'`: every status, and artifacts unless they are chunks but the last.
   */
  updates: 'default' as PushUpdates,
  /** How long one attempt may take, in milliseconds. Default 10,000. */
  timeoutMs: 10_000,
  retry: pushRetry as Partial<PushRetry>,
  /** Attempts under way at once in this process. Default 256. One host never takes all of them. */
  concurrency: 256,
  /** Webhooks of one task. Default 100. */
  configsPerTask: 100,
  /** Whether get and list leave out `token` and `authentication.credentials`. Default true. */
  redactSecrets: true,
  /** Signs each delivery, within `timeoutMs`: `signPush` of `@batonjs/auth`. */
  sign: undefined as SignPush | undefined,
};

/** How webhooks are delivered to. A webhook must be public and have TLS, unless it is listed in `allow`. */
export type PushOptions = Partial<Readonly<typeof pushOptions>> & AddressPolicyOptions;

/** The options, completed. */
export type WebhookOptions = Readonly<Omit<typeof pushOptions, 'retry'>> & { readonly retry: PushRetry };

/** The options with their defaults. Throws `TypeError` for numbers that cannot work. */
export function completePush(given: PushOptions): WebhookOptions {
  const complete = { ...withDefaults(pushOptions, given), retry: withDefaults(pushRetry, given.retry) };
  const { timeoutMs, concurrency, retry } = complete;
  mustBePositive('push', { timeoutMs, concurrency });
  mustBePositive('push.retry', retry);
  return complete;
}

/** The waits after failures. Random from 0, so that retries do not come in step. */
export const backoffOf = ({ baseDelayMs, maxDelayMs }: PushRetry): Backoff => ({
  initialMs: baseDelayMs,
  maxMs: maxDelayMs,
  jitter: 1,
});
