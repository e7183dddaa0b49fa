import type { PushFormat, ServerCompatibility } from '@batonjs/bindings';
import type { PushConfigStore, Scope, TaskStore } from '@batonjs/store';
import type { Telemetry } from '../base/hooks/telemetry.ts';
import type { PeerPush, Peers } from '../base/store/peers.ts';
import type { StoreSource } from '../base/store/store-source.ts';
import type { Timeouts } from '../base/timeouts.ts';
import { type AddressPolicy, addressPolicy } from './address-policy/address-policy.ts';
import type { Resolve } from './address-policy/resolve-host.ts';
import { previewFormat, pushFormat } from './push-format.ts';
import { completePush, type PushOptions, type WebhookOptions } from './push-options.ts';
import type { SignPush } from './sign-push.ts';

/** The objects that webhooks are registered and delivered with. */
export interface Webhooks {
  readonly store: PushConfigStore;
  readonly policy: AddressPolicy;
  readonly sign: SignPush | undefined;
  /** What this process can deliver, for the others. */
  readonly reach: PeerPush;
  readonly resolve: Resolve | undefined;
  /** By version of the protocol. */
  readonly formats: ReadonlyMap<string, PushFormat>;
  readonly options: WebhookOptions;
  /** Undefined: no other process can deliver. */
  readonly peers?: Peers | undefined;
}

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
): Webhooks | undefined {
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
    reach: { allow, ports, http, versions: [...byVersion.keys()], signs: sign !== undefined },
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
