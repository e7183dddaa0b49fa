import type { TaskName } from '@batonjs/store';
import type { TaskRow, WebhookRow } from '@batonjs/store/adapter';
import type { Cluster } from '../cluster/cluster.ts';
import type { KeyValue } from '../wire/messages.ts';
import type { ClusterClock } from './cluster-clock.ts';
import type { Keys } from './keys.ts';

/** The keys of a store in a cluster. */
export interface Database {
  readonly cluster: Cluster;
  readonly keys: Keys;
  readonly clock: ClusterClock;
}

/** The webhooks of a task, which have one key. */
export interface KnownWebhooks {
  readonly rows: readonly WebhookRow[];
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

export const noWebhooks: KnownWebhooks = { rows: [], revision: 0 };

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

/** Stands for a config that has a key of its own. */
export const configApart: WebhookRow['config'] = Object.freeze({ url: '' });

export const isApart = ({ config }: WebhookRow): boolean => config === configApart;

interface WebhooksValue extends TaskName {
  readonly webhooks: readonly (Omit<WebhookRow, keyof TaskName | 'config'> & Partial<WebhookRow>)[];
  readonly by: string;
}

/** The value of `webhooks/<task>`, without the configs that have a key of their own. */
export function webhooksValue(name: TaskName, rows: readonly WebhookRow[], by: string): string {
  const webhooks = rows.map(({ scope: _scope, taskId: _taskId, ...row }) =>
    row.config === configApart ? { ...row, config: undefined } : row,
  );
  const { scope, taskId } = name;
  return JSON.stringify({ scope, taskId, webhooks, by } satisfies WebhooksValue);
}

export function webhooksOf(kept: KeyValue | undefined): KnownWebhooks {
  if (!kept) return noWebhooks;
  const { scope, taskId, webhooks }: WebhooksValue = JSON.parse(String(kept.value));
  const rows = webhooks.map((one) => ({ ...one, scope, taskId, config: one.config ?? configApart }));
  return { rows, revision: kept.modRevision };
}
