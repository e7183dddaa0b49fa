import type { PushConfig, PushConfigName } from '../port/push-config-store.ts';
import type { WebhookRow } from '../port/rows.ts';
import type { Notification } from '../port/task-store.ts';

/** The columns from which the others follow. */
export type WebhookFacts = Omit<WebhookRow, 'revision' | 'readyAt'>;

/** Whether the webhook has not heard of all facts of a log of this length, and still may. */
export const isBehind = ({ dead, cursor }: WebhookFacts, version: number): boolean =>
  dead === undefined && cursor < version;

/** The row that replaces `before`, of a task whose log has this length: when its next delivery may begin. */
export function plannedWebhook(
  before: WebhookRow | undefined,
  webhook: WebhookFacts,
  version: number,
  now: number,
): WebhookRow {
  const { scope, taskId, id, config, protocolVersion, queue, cursor, attempts, retryAt, dead } = webhook;
  const { fence, holder, leaseUntil } = webhook;
  const isHeld = holder !== undefined;
  const readyAt = isHeld ? leaseUntil : retryAt === undefined ? now : Date.parse(retryAt);
  return {
    scope,
    taskId,
    id,
    config,
    protocolVersion,
    queue,
    cursor,
    attempts,
    retryAt,
    dead,
    revision: before ? before.revision + 1 : Math.floor(now),
    fence,
    holder,
    leaseUntil: isHeld ? leaseUntil : undefined,
    readyAt: isBehind(webhook, version) ? readyAt : undefined,
  };
}

/** After which time and up to which one the `readyAt` of wanted deliveries lies. */
export const readyBetween = ({ beyondMs }: { readonly beyondMs?: number | undefined }, now: number) =>
  beyondMs === undefined ? ([-1, now] as const) : ([now + beyondMs, Number.MAX_SAFE_INTEGER] as const);

/** The notification that a delivery can be claimed now, or none. */
export const readyWebhook = ({ queue, holder, readyAt }: WebhookRow, now: number): Notification[] =>
  holder === undefined && readyAt !== undefined && readyAt <= now ? [{ queue }] : [];

/** What callers see of a webhook. */
export function pushConfigOf(row: WebhookRow): PushConfig {
  const { scope, taskId, id, config, protocolVersion, queue, cursor, attempts, retryAt, dead } = row;
  return {
    ...{ scope, taskId, id, config, protocolVersion, queue, cursor, attempts },
    ...(retryAt !== undefined && { retryAt }),
    ...(dead !== undefined && { dead }),
  };
}

/** The order of webhooks: by scope, task and id. */
export function byName(a: PushConfigName, b: PushConfigName): number {
  for (const key of ['scope', 'taskId', 'id'] as const)
    if (a[key] !== b[key]) return a[key] < b[key] ? -1 : 1;
  return 0;
}
