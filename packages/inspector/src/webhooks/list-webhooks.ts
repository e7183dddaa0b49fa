import type { TaskPushNotificationConfig } from '@batonjs/protocol';
import type { PushConfig } from '@batonjs/store';
import type { Inspected } from '../agents/inspected.ts';
import type { WebhookRow } from '../api/webhook.ts';
import type { TaskSource } from '../tasks/task-source.ts';
import { withoutQuery } from '../wire/secrets.ts';

/** How many tasks are looked through for webhooks, newest first. */
const mostTasks = 50;
/** How many webhooks of one task, and how many dead letters, are listed. */
const mostWebhooks = 100;

/** The webhooks of the newest tasks and all that were given up, without their secrets. */
export async function listWebhooks(
  { store, link }: Inspected,
  source: TaskSource,
  scope = 0,
): Promise<{ readonly webhooks: readonly WebhookRow[]; readonly isComplete: boolean }> {
  const page = await source.list({ scope });
  const tasks = page.tasks.slice(0, mostTasks);
  const isComplete = page.next === undefined && page.tasks.length <= mostTasks;
  if (store) {
    if (!store.webhooks) return { webhooks: [], isComplete: true };
    const { webhooks, scopes, queue } = store;
    const place = scopes[scope]!.scope;
    const rows = await Promise.all(
      tasks.map(async ({ id, version }) =>
        (await webhooks.listPushConfigs(place, id, { limit: mostWebhooks })).map((push) =>
          toRow(push, scope, version),
        ),
      ),
    );
    const dead = await webhooks.listDead(queue, { limit: mostWebhooks });
    const indexOf = (push: PushConfig) => scopes.findIndex((each) => each.scope === push.scope);
    const all = [...dead.map((push) => toRow(push, indexOf(push))), ...rows.flat()];
    const unique = new Map(all.map((row) => [`${row.scope} ${row.taskId} ${row.id}`, row]));
    return { webhooks: [...unique.values()], isComplete };
  }
  const client = await link!.client();
  if (!client.card.capabilities?.pushNotifications) return { webhooks: [], isComplete: true };
  const lists = await Promise.all(
    tasks.map(async ({ id }) => (await client.listTaskPushNotificationConfigs({ taskId: id })).configs ?? []),
  );
  return { webhooks: lists.flat().map(fromConfig), isComplete };
}

function toRow(push: PushConfig, scope: number, version?: number): WebhookRow {
  const { id, taskId, config, cursor, attempts, retryAt, dead } = push;
  return { ...fromConfig(config), id, taskId, cursor, attempts, scope, version, retryAt, dead };
}

const fromConfig = ({
  id = '',
  taskId = '',
  url,
  authentication,
  token,
}: TaskPushNotificationConfig): WebhookRow => ({
  id,
  taskId,
  url: withoutQuery(url),
  authentication: [authentication?.scheme, token && 'token'].filter(Boolean).join(', ') || 'none',
});
