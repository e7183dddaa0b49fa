import type { WebhookRow } from '@batonjs/store';
import type { DatabaseRow } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import { type Column, known, orNull } from './column.ts';

/** A row of `webhooks` that is written, with the revision that it replaces. */
export interface WrittenWebhook {
  readonly row: WebhookRow;
  /** Undefined for a new row. */
  readonly replaced: number | undefined;
}

export const webhookColumns: readonly Column<WrittenWebhook>[] = [
  ['key', 'text', ({ row }) => keyOf(row.scope, row.taskId)],
  ['config_key', 'text', ({ row }) => keyOf(row.id)],
  ['scope', 'text', ({ row }) => row.scope],
  ['task_id', 'text', ({ row }) => row.taskId],
  ['config_id', 'text', ({ row }) => row.id],
  ['revision', 'float8', ({ row }) => row.revision],
  ['replaced', 'float8', ({ replaced }) => orNull(replaced)],
  ['config', 'text', ({ row }) => JSON.stringify(row.config)],
  ['protocol_version', 'text', ({ row }) => row.protocolVersion],
  ['queue', 'text', ({ row }) => row.queue],
  ['queue_key', 'text', ({ row }) => keyOf(row.queue)],
  ['cursor', 'float8', ({ row }) => row.cursor],
  ['attempts', 'float8', ({ row }) => row.attempts],
  ['retry_at', 'text', ({ row }) => orNull(row.retryAt)],
  ['dead', 'text', ({ row }) => orNull(row.dead)],
  ['fence', 'float8', ({ row }) => row.fence],
  ['holder', 'text', ({ row }) => orNull(row.holder)],
  ['lease_until', 'float8', ({ row }) => orNull(row.leaseUntil)],
  ['ready_at', 'float8', ({ row }) => orNull(row.readyAt)],
];

export const toWebhookRow = (found: DatabaseRow): WebhookRow => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  id: String(found.config_id),
  revision: Number(found.revision),
  config: JSON.parse(String(found.config)),
  protocolVersion: String(found.protocol_version),
  queue: String(found.queue),
  cursor: Number(found.cursor),
  attempts: Number(found.attempts),
  retryAt: known(found.retry_at),
  dead: known(found.dead),
  fence: Number(found.fence),
  holder: known(found.holder),
  leaseUntil: known(found.lease_until),
  readyAt: known(found.ready_at),
});
