import type { PushFormat, ServerCompatibility } from '@batonjs/bindings';
import type { PushConfigStore, TaskStore } from '@batonjs/store';
import { type AddressPolicy, addressPolicy } from '../address-policy/address-policy.ts';
import type { RunSettings } from '../limits/limits.ts';
import { pushFormat } from './push-format.ts';
import type { PushOptions, PushRetry } from './push-options.ts';
import type { SignPush } from './sign-push.ts';
import type { PushUpdates } from './wanted-update.ts';

/** What webhooks need to know. */
export interface PushSettings {
  readonly store: PushConfigStore;
  readonly policy: AddressPolicy;
  readonly updates: PushUpdates;
  readonly timeoutMs: number;
  readonly retry: PushRetry;
  readonly concurrency: number;
  readonly configsPerTask: number;
  readonly redactSecrets: boolean;
  /** By version of the protocol. */
  readonly formats: ReadonlyMap<string, PushFormat>;
  readonly sign: SignPush | undefined;
}

/** What delivering needs to know. */
export interface DeliverySettings extends RunSettings {
  readonly push: PushSettings;
}

/** The options with everything left out filled in, or undefined where there is no push. Throws `TypeError`. */
export function completePush(
  store: TaskStore | (TaskStore & PushConfigStore),
  options: PushOptions | false = {},
  compatibility: readonly ServerCompatibility[] = [],
): PushSettings | undefined {
  if (options === false || !('claimDeliveries' in store)) return undefined;
  const settings: PushSettings = {
    store,
    policy: addressPolicy({ ...options, http: options.http ?? false }),
    updates: options.updates ?? 'default',
    timeoutMs: options.timeoutMs ?? 10_000,
    retry: {
      baseDelayMs: 1_000,
      maxDelayMs: 3_600_000,
      maxAttempts: 40,
      maxRejections: 8,
      maxAgeMs: 86_400_000,
      ...options.retry,
    },
    concurrency: options.concurrency ?? 256,
    configsPerTask: options.configsPerTask ?? 100,
    redactSecrets: options.redactSecrets ?? true,
    formats: new Map(
      [pushFormat, ...compatibility.map((other) => other.pushFormat)].map((format) => [
        format.version,
        format,
      ]),
    ),
    sign: options.sign,
  };
  const { timeoutMs, concurrency, retry } = settings;
  for (const [name, value] of Object.entries({ timeoutMs, concurrency, ...retry })) {
    if (!(value > 0)) throw new TypeError(`\`push.${name}\` must be more than 0`);
  }
  return settings;
}
