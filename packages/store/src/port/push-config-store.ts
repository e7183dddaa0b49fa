import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import type { Scope, TaskName } from './lease.ts';

/** A webhook of a task, and the position up to which the log was delivered to it. */
export interface PushConfig extends TaskName {
  readonly id: string;
  /** The config as registered, including secrets. */
  readonly config: TaskPushNotificationConfig;
  /** Protocol version of the registering request, which is the format of its deliveries. */
  readonly protocolVersion: string;
  /** The queue that its deliveries are claimed from: that of the task. */
  readonly queue: string;
  /** Position up to which the log was delivered. */
  readonly cursor: number;
  /** Failed attempts of the delivery after the cursor. */
  readonly attempts: number;
  /** No attempt before this time: ISO 8601, UTC, milliseconds. */
  readonly retryAt?: string;
  /** Why delivery was given up. The webhook counts as delivered until it is revived. */
  readonly dead?: string;
}

/** A webhook to which nothing was delivered. */
export type NewPushConfig = Omit<PushConfig, 'attempts' | 'retryAt' | 'dead'>;

/** The name of one webhook. */
export type PushConfigName = Pick<PushConfig, 'scope' | 'taskId' | 'id'>;

/** The right to deliver to one webhook. It is lost in the same way as the lease of a task. */
export interface Delivery {
  readonly push: PushConfig;
  readonly holder: string;
  readonly fence: number;
}

/** Which deliveries are asked for, and by whom; see `ClaimRequest`. */
export interface DeliveryRequest {
  readonly queue: string;
  readonly holder: string;
  readonly ttlMs: number;
  readonly limit: number;
  /** Instead of those that are due: those that a clock which was ahead postponed for more than so many milliseconds. */
  readonly beyondMs?: number | undefined;
}

/** The outcome of a delivery. Every outcome without `keep` gives the right back. */
export type DeliveryOutcome =
  /** Delivered (or skipped) up to the cursor. `keep` keeps the right for `ttlMs` more milliseconds. */
  | { readonly cursor: number; readonly keep?: { readonly ttlMs: number } }
  /** Failed. The next attempt is not before `retryAt` (ISO 8601, UTC, milliseconds). */
  | { readonly retryAt: string; readonly attempts: number }
  /** Given up, for this reason. */
  | { readonly dead: string };

/** Keeps webhooks. The log is the outbox: a delivery is due while the log is longer than the webhook's cursor. */
export interface PushConfigStore {
  /**
   * Adds the webhook, or replaces the one with this id, keeping its cursor if that is further and clearing `dead`.
   * A delivery under way for the replaced one is fenced. Resolves `false`, changing nothing, if the task has `atMost`
   * webhooks already and none with this id.
   */
  putPushConfig(push: NewPushConfig, atMost?: number): Promise<boolean>;
  getPushConfig(scope: Scope, taskId: string, id: string): Promise<PushConfig | undefined>;
  /** Ordered by id, after the id `after`. */
  listPushConfigs(
    scope: Scope,
    taskId: string,
    page: { readonly limit: number; readonly after?: string },
  ): Promise<readonly PushConfig[]>;
  /** Resolves whether the webhook existed. Deliveries under way are fenced. */
  removePushConfig(scope: Scope, taskId: string, id: string): Promise<boolean>;
  /** Grants rights to deliver to webhooks that are behind their log and neither dead, waiting nor held. */
  claimDeliveries(request: DeliveryRequest): Promise<readonly Delivery[]>;
  /** Records an outcome. Resolves `false`, changing nothing, if the right was lost. */
  advance(delivery: Delivery, outcome: DeliveryOutcome): Promise<boolean>;
  /**
   * Makes webhooks due at once that wait for `retryAt`, and keeps their `attempts`. Leaves out those that are under
   * way, dead, gone or do not wait.
   */
  retryNow(webhooks: readonly PushConfigName[]): Promise<void>;
  /** Webhooks of the queue that were given up, ordered by scope, task and id. */
  listDead(queue: string, page: { readonly limit: number }): Promise<readonly PushConfig[]>;
  /** Tries a dead webhook again from its cursor. Resolves whether there was one. */
  revive(scope: Scope, taskId: string, id: string): Promise<boolean>;
}
