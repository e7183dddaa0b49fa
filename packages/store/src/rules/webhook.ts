import type { TaskName } from '../port/lease.ts';
import type {
  Delivery,
  DeliveryOutcome,
  DeliveryRequest,
  NewPushConfig,
  PushConfigName,
} from '../port/push-config-store.ts';
import type { TaskRow, WebhookRow } from '../port/rows.ts';
import type { Notification } from '../port/task-store.ts';
import {
  type Change,
  type Found,
  type FoundTask,
  foundOf,
  foundTask,
  type Replaced,
  type Step,
  type TaskWrite,
  type Wanted,
} from './change.ts';
import { nameOf } from './claim.ts';
import { isBehind, placed, plannedWebhook, pushConfigOf, readyWebhook, type TaskFacts } from './task-row.ts';

export const withWebhooks = (...names: readonly TaskName[]): Wanted => ({
  tasks: names.map(({ scope, taskId }) => ({ scope, taskId })),
  webhooks: true,
});

/** The decision about a webhook that is added, or replaces the one of its id; see `PushConfigStore`. */
export const putStep = (push: NewPushConfig, atMost = Number.POSITIVE_INFINITY): Step<boolean, never> => ({
  wanted: withWebhooks(push),
  decide: (found) => {
    const task = foundTask(found);
    const known = webhookOf(task, push.id);
    if (!known && task.webhooks.length >= atMost) return { result: false };
    const { scope, taskId, id, config, protocolVersion, queue } = push;
    const cursor = Math.max(push.cursor, known?.cursor ?? 0);
    const fresh = { attempts: 0, retryAt: undefined, dead: undefined };
    const free = { fence: known ? known.fence + 1 : 0, holder: undefined, leaseUntil: undefined };
    const webhook = { scope, taskId, id, config, protocolVersion, queue, cursor, ...fresh, ...free };
    const version = task.row?.version ?? 0;
    const after = plannedWebhook(known, webhook, version, found.now);
    return changed(task, { before: known, after }, found, push);
  },
});

/** The decision about a webhook that is removed. */
export function removeStep(name: PushConfigName): Step<boolean, never> {
  return ofOne(name, (before, task, found) => changed(task, { before, after: undefined }, found, before));
}

/** The decision about what a delivery came to. */
export const outcomeStep = (
  { push, holder, fence }: Delivery,
  outcome: DeliveryOutcome,
): Step<boolean, never> =>
  ofOne(push, (webhook, task, found) => {
    if (webhook.holder !== holder || webhook.fence !== fence) return { result: false };
    const keep = 'cursor' in outcome ? outcome.keep : undefined;
    const lease = keep
      ? { holder, leaseUntil: found.now + keep.ttlMs }
      : { holder: undefined, leaseUntil: undefined };
    const after = replaced(webhook, { ...stateAfter(outcome), ...lease }, task, found);
    return changed(task, after, found, webhook);
  });

const delivered = { attempts: 0, retryAt: undefined };

const stateAfter = (outcome: DeliveryOutcome) =>
  'dead' in outcome
    ? { dead: outcome.dead }
    : 'retryAt' in outcome
      ? { retryAt: outcome.retryAt, attempts: outcome.attempts }
      : { cursor: outcome.cursor, ...delivered };

/** The decision that a webhook is tried again that was given up. */
export const reviveStep = (name: PushConfigName): Step<boolean, never> =>
  ofOne(name, (webhook, task, found) => {
    if (webhook.dead === undefined) return { result: false };
    const after = replaced(webhook, { ...delivered, dead: undefined }, task, found);
    return changed(task, after, found, webhook);
  });

/** The decision that webhooks which wait for another attempt of their tasks are due at once. */
export function retryNowStep(names: readonly PushConfigName[]): Step<undefined, never> {
  const ids = new Map<string, Set<string>>();
  const tasks = new Map<string, TaskName>();
  for (const name of names) {
    const key = nameOf(name);
    tasks.set(key, name);
    ids.set(key, (ids.get(key) ?? new Set()).add(name.id));
  }
  return {
    wanted: withWebhooks(...tasks.values()),
    decide: (found) => {
      const webhooks = foundOf(found, 'tasks').flatMap((task) =>
        task.webhooks.filter(isPostponed).flatMap((webhook) => {
          if (!ids.get(nameOf(webhook))?.has(webhook.id)) return [];
          return [replaced(webhook, { retryAt: undefined }, task, found)];
        }),
      );
      if (webhooks.length === 0) return { result: undefined };
      return { result: undefined, webhooks, notify: ready(webhooks, found) };
    },
  };
}

/** Whether the webhook waits for another attempt. */
const isPostponed = ({ retryAt, holder, dead }: WebhookRow): boolean =>
  retryAt !== undefined && holder === undefined && dead === undefined;

/** The decision about a claim of deliveries. */
export const claimDeliveriesStep = ({
  queue,
  holder,
  ttlMs,
  limit,
  beyondMs,
}: DeliveryRequest): Step<readonly Delivery[], never> => ({
  wanted: { deliveries: { queue, limit, beyondMs } },
  isMostlyIdle: true,
  decide: (found) => {
    const { now } = found;
    const deliveries = foundOf(found, 'deliveries');
    if (deliveries.length === 0) return { result: [] };
    const webhooks = deliveries.map((before) => {
      const held = { ...before, fence: before.fence + 1, holder, leaseUntil: now + ttlMs };
      // It is behind its log, however long that is.
      return { before, after: plannedWebhook(before, held, Number.POSITIVE_INFINITY, now) };
    });
    const result = webhooks.map(({ after }) => ({ push: pushConfigOf(after), holder, fence: after.fence }));
    return { result, webhooks };
  },
});

/** Decides about one webhook; resolves `false` if there is none. */
const ofOne = (
  name: PushConfigName,
  decide: (webhook: WebhookRow, task: FoundTask, found: Found) => Change<boolean, never>,
): Step<boolean, never> => ({
  wanted: withWebhooks(name),
  decide: (found) => {
    const task = foundTask(found);
    const webhook = webhookOf(task, name.id);
    return webhook ? decide(webhook, task, found) : { result: false };
  },
});

const webhookOf = ({ webhooks }: FoundTask, id: string): WebhookRow | undefined =>
  webhooks.find((webhook) => webhook.id === id);

const replaced = (
  before: WebhookRow,
  changes: Partial<WebhookRow>,
  { row }: FoundTask,
  { now }: Found,
): Replaced<WebhookRow> => ({
  before,
  after: plannedWebhook(before, { ...before, ...changes }, row?.version ?? 0, now),
});

const ready = (webhooks: readonly Replaced<WebhookRow>[], { now }: Found): Notification[] =>
  webhooks.flatMap(({ after }) => (after ? readyWebhook(after, now) : []));

/** The change of one of a task's webhooks, and of its row if that counts them again or may be deleted from now on. */
function changed(
  { row, webhooks: known }: FoundTask,
  webhook: Replaced<WebhookRow>,
  found: Found,
  name: TaskName,
): Change<boolean, never> {
  const left = known.filter((one) => one !== webhook.before);
  const tasks = taskAfter(row, webhook.after ? [...left, webhook.after] : left, found, name);
  const webhooks = [webhook];
  return { result: true, tasks: tasks && [tasks], webhooks, notify: ready(webhooks, found) };
}

function taskAfter(
  before: TaskRow | undefined,
  webhooks: readonly WebhookRow[],
  moment: Found,
  name: TaskName,
): TaskWrite<never> | undefined {
  const row: TaskFacts = before ?? emptyRow(name);
  if (row.version === 0 && webhooks.length === 0) return { before, after: undefined };
  const isUndelivered = webhooks.some((webhook) => isBehind(webhook, row.version));
  const after = placed(before, { ...row, webhooks: webhooks.length }, isUndelivered, moment);
  const isSame = before && before.webhooks === after.webhooks && before.endedAt === after.endedAt;
  return isSame ? undefined : { before, after };
}

/** The row of a task that has no log: it has a webhook, or its facts are being added. */
export const emptyRow = ({ scope, taskId }: TaskName): TaskFacts => ({
  scope,
  taskId,
  version: 0,
  head: undefined,
  lastAt: '',
  webhooks: 0,
  queue: undefined,
  wanted: false,
  fence: 0,
  holder: undefined,
  aheadMs: undefined,
  leaseUntil: undefined,
  leasedAt: undefined,
});
