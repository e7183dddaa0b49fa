import type { TaskRow, WebhookRow } from '@batonjs/store';
import type { KeyValue } from '../wire/messages.ts';

/** The webhooks of a task, which have one key. */
export interface KnownWebhooks {
  /** Those in `apart` are without their config, unless it was asked for. */
  readonly rows: readonly WebhookRow[];
  /** The ids of those whose config has a key of its own. */
  readonly apart: ReadonlySet<string>;
  /** Of the key; 0: there is none. */
  readonly revision: number;
}

/** A task as it was read, with the revisions that a write compares. */
export interface KnownTask {
  readonly row: TaskRow | undefined;
  /** Of the key of the row; 0: there is none. */
  readonly revision: number;
  /** Where the snapshot is, if it is kept in parts. */
  readonly snapshotParts: string | undefined;
  /** Undefined: they were not read. */
  readonly webhooks: KnownWebhooks | undefined;
}

export const noWebhooks: KnownWebhooks = { rows: [], apart: new Set(), revision: 0 };

export const absent: KnownTask = {
  row: undefined,
  revision: 0,
  snapshotParts: undefined,
  webhooks: noWebhooks,
};

/** The value of `task/<task>`. `by`: the change that wrote it. */
export const taskValue = (row: TaskRow, snapshotParts: string | undefined, by: string): string =>
  JSON.stringify({ ...row, snapshotParts, by });

/** The task of a key. `webhooks`: those that were read. */
export function taskOf(kept: KeyValue | undefined, webhooks?: KnownWebhooks): KnownTask {
  if (!kept) return { ...absent, webhooks };
  const { snapshotParts, by: _by, ...row } = JSON.parse(String(kept.value));
  return { row, revision: kept.modRevision, snapshotParts, webhooks };
}

interface WebhooksValue {
  readonly scope: string;
  readonly taskId: string;
  readonly webhooks: readonly Omit<WebhookRow, 'scope' | 'taskId'>[];
  readonly by: string;
}

/** The value of `webhooks/<task>`, without the configs of those in `apart`. */
export function webhooksValue(rows: readonly WebhookRow[], apart: ReadonlySet<string>, by: string): string {
  const { scope, taskId } = rows[0]!;
  const webhooks = rows.map((row) => ({
    ...row,
    scope: undefined,
    taskId: undefined,
    ...(apart.has(row.id) && { config: undefined }),
  }));
  return JSON.stringify({ scope, taskId, webhooks, by } satisfies WebhooksValue);
}

export function webhooksOf(kept: KeyValue | undefined): KnownWebhooks {
  if (!kept) return noWebhooks;
  const { scope, taskId, webhooks }: WebhooksValue = JSON.parse(String(kept.value));
  const apart = new Set(webhooks.flatMap(({ config, id }) => (config === undefined ? [id] : [])));
  return { rows: webhooks.map((one) => ({ scope, taskId, ...one })), apart, revision: kept.modRevision };
}
