import type { PushFormat, ServerCompatibility } from '@batonjs/bindings';
import { type Fact, isInterrupted, isTerminal } from '@batonjs/lifecycle';
import { A2A_JSON, PREVIEW_VERSION, PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { withDefaults } from '@batonjs/protocol/options';
import type { Backoff } from '@batonjs/protocol/timing';
import type { PushConfig, PushConfigStore, Scope, TaskStore } from '@batonjs/store';
import type { Telemetry } from '../base/hooks/telemetry.ts';
import type { Peers } from '../base/store/peers.ts';
import type { StoreSource } from '../base/store/records.ts';
import { mustBePositive, type Timeouts } from '../base/timeouts.ts';
import { type AddressPolicyOptions, addressPolicy } from './address-policy/address-policy.ts';
import type { SignPush } from './sign-push.ts';

/** The objects that webhooks are registered and delivered with. `peers`, undefined: no other process can deliver. */
export type Webhooks = Readonly<NonNullable<ReturnType<typeof createWebhooks>>> & {
  readonly peers?: Peers | undefined;
};

/** The objects that deliveries are made with. */
export interface DeliveryDependencies extends StoreSource {
  readonly push: Webhooks;
  readonly telemetry: Telemetry | undefined;
  /** Times in milliseconds. */
  readonly options: {
    readonly queue: string;
    readonly pollMs: number;
    readonly files?: { ready(): Promise<{ shown<T>(event: T, scope: Scope): T }> } | undefined;
    readonly timeouts: Pick<Timeouts, 'leaseMs' | 'storeMs'>;
  };
}

/** Completes the options of webhooks. Undefined if the store keeps none, or `options` is false. Throws `TypeError`. */
export function createWebhooks(
  store: TaskStore | (TaskStore & PushConfigStore),
  given: PushOptions | false = {},
  compatibility: readonly ServerCompatibility[] = [],
) {
  if (given === false || !('claimDeliveries' in store)) return undefined;
  const options = completePush(given);
  const formats = [pushFormat, previewFormat, ...compatibility.map((other) => other.pushFormat)];
  const { sign, http } = options;
  const { resolve, allow = [], ports = null } = given;
  const byVersion = new Map(formats.map((format) => [format.version, format]));
  return {
    store,
    policy: addressPolicy({ ...given, http }),
    sign,
    resolve,
    /** What this process can deliver, for the others. */
    reach: { allow, ports, http, versions: [...byVersion.keys()], signs: sign !== undefined },
    /** By version of the protocol. */
    formats: byVersion,
    options,
  };
}

/** The options of webhooks that have to be the same in all processes that deliver. */
export const sharedPushOptions = ({
  reach: { allow, ports, http, versions, signs },
  options: { updates, retry },
}: Webhooks) => ({
  compatibility: versions,
  'push.allow': [...allow].sort(),
  'push.ports': ports,
  'push.http': http,
  'push.sign': signs,
  'push.updates': updates,
  'push.retry': retry,
});

/** The format of A2A 1.0. Spec: §4.3.3. */
export const pushFormat: PushFormat = {
  version: PROTOCOL_VERSION,
  mediaType: A2A_JSON,
  encode: (event) => JSON.stringify(event),
};

/** The same with the extension of 1.1: its events have their generation already. */
export const previewFormat: PushFormat = { ...pushFormat, version: PREVIEW_VERSION };

/** A webhook that was given up, with the position up to which it got everything. */
export interface DeadLetter {
  readonly scope: Scope;
  readonly taskId: string;
  /** Id of the webhook. */
  readonly id: string;
  /** Without query, which may hold a secret. */
  readonly url: string;
  /** Why it was given up. */
  readonly reason: string;
  /** Position in the log up to which it got everything. */
  readonly cursor: number;
}

/** The webhooks that were given up, for the operator of a server. */
export interface PushDeliveries {
  /** Webhooks that were given up, at most `limit` (default 100). Empty where there is no push. */
  deadLetters(options?: { limit?: number }): Promise<DeadLetter[]>;
  /** Tries one again, from where it stopped. Resolves to false if it does not exist or was not given up. */
  redeliver(letter: Pick<DeadLetter, 'scope' | 'taskId' | 'id'>): Promise<boolean>;
}

export const pushDeliveries = (push: Webhooks | undefined, queue: string): PushDeliveries => ({
  deadLetters: async ({ limit = 100 } = {}) =>
    ((await push?.store.listDead(queue, { limit })) ?? []).map(toDeadLetter),
  redeliver: async ({ scope, taskId, id }) => (await push?.store.revive(scope, taskId, id)) ?? false,
});

function toDeadLetter({ scope, taskId, id, config, dead = '', cursor }: PushConfig): DeadLetter {
  const { origin = '', pathname = '' } = URL.canParse(config.url) ? new URL(config.url) : {};
  return { scope, taskId, id, url: origin + pathname, reason: dead, cursor };
}

/** When a delivery is tried again, with the defaults. All times in milliseconds. */
export const pushRetry = {
  /** The longest wait after the first failure; it doubles with each further one. Waits are random below that. Default 1,000. */
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
  /** Which updates are delivered. Default `'default'`: every status, and artifacts unless they are chunks but the last. */
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
type WebhookOptions = Readonly<Omit<typeof pushOptions, 'retry'>> & { readonly retry: PushRetry };

/** The options with their defaults. Throws `TypeError` for numbers that cannot work. */
function completePush(given: PushOptions): WebhookOptions {
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

/**
 * Which updates a webhook gets: every one (`all`); without chunks of artifacts that have more to come (`default`); only
 * that the task ended, or waits for its client or an authorization (`significant`).
 */
export type PushUpdates = 'default' | 'all' | 'significant';

/** Whether a fact is delivered. */
export function isWanted(fact: Fact, updates: PushUpdates): boolean {
  if (fact.type === 'status-changed') {
    const { state } = fact.status;
    return updates !== 'significant' || isTerminal(state) || isInterrupted(state);
  }
  if (fact.type !== 'artifact-updated') return false;
  return updates === 'all' || (updates === 'default' && (!fact.append || fact.lastChunk));
}
