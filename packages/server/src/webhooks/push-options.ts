import { type OptionNames, unknownOptions } from '@batonjs/protocol/options';
import type { Backoff } from '@batonjs/protocol/timing';
import type { AddressPolicyOptions } from './address-policy/address-policy.ts';
import type { SignPush } from './sign-push.ts';
import type { PushUpdates } from './wanted-update.ts';

/** When a delivery is tried again. All times in milliseconds. */
export interface PushRetry {
  /**
   * The longest wait after the first failure; it doubles with each further one. Waits are random below that. Default
   * 1,000.
   */
  readonly baseDelayMs: number;
  /** No wait is longer, not even if the webhook asks for it. Default 1 hour. */
  readonly maxDelayMs: number;
  /** After so many failures in a row the webhook is given up. Default 40. */
  readonly maxAttempts: number;
  /**
   * After so many redirects and refusals (4xx) in a row the webhook is given up. Redirects, 404 and 410 may be the
   * answers of a proxy while its service is deployed; other refusals concern one update, which is skipped. Default 8.
   */
  readonly maxRejections: number;
  /** An update that is older than this is not tried again after a failure. Default 24 hours. */
  readonly maxAgeMs: number;
}

/** The waits after failures. Random from 0, so that retries do not come in step. */
export const backoffOf = ({ baseDelayMs, maxDelayMs }: PushRetry): Backoff => ({
  initialMs: baseDelayMs,
  maxMs: maxDelayMs,
  jitter: 1,
});

/** How webhooks are delivered to. A webhook must be public and have TLS, unless it is listed in `allow`. */
export interface PushOptions extends AddressPolicyOptions {
  /** Whether public webhooks may be without TLS. Default false. */
  readonly http?: boolean | undefined;
  /**
   * Which updates are delivered. Default `'default'`: every status, and artifacts unless they are chunks but the last.
   */
  readonly updates?: PushUpdates | undefined;
  /** How long one attempt may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Partial<PushRetry> | undefined;
  /** Attempts under way at once in this process. Default 256. One host never takes all of them. */
  readonly concurrency?: number | undefined;
  /** Webhooks of one task. Default 100. */
  readonly configsPerTask?: number | undefined;
  /** Whether get and list leave out `token` and `authentication.credentials`. Default true. */
  readonly redactSecrets?: boolean | undefined;
  readonly sign?: SignPush | undefined;
}

const ofPush: OptionNames<PushOptions> = {
  allow: true,
  ports: true,
  http: true,
  resolve: true,
  updates: true,
  timeoutMs: true,
  retry: true,
  concurrency: true,
  configsPerTask: true,
  redactSecrets: true,
  sign: true,
};
const ofRetry: OptionNames<PushRetry> = {
  baseDelayMs: true,
  maxDelayMs: true,
  maxAttempts: true,
  maxRejections: true,
  maxAgeMs: true,
};

/** A sentence for each option of webhooks that does not exist. */
export const unknownPushOptions = (push: PushOptions | false | undefined): string[] => [
  ...unknownOptions(push, ofPush, 'push'),
  ...unknownOptions(Object(push).retry, ofRetry, 'push.retry'),
];
