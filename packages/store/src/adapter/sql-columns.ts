import type { RecordRow, TaskRow, WebhookRow } from '../port/rows.ts';
import { stateOf } from '../rules/task-row.ts';

/** What a column holds; with `?`, also NULL. An integer is a position in a log. */
export type SqlType = `${'integer' | 'number' | 'text'}${'' | '?'}` | 'flag';

/** A column of a table: its name, its type, and its value in a row. Undefined stands for NULL. */
export type SqlColumn<Row> = readonly [
  name: string,
  type: SqlType,
  value: (row: Row) => string | number | boolean | undefined,
];

/** The columns of a task, for the adapters of SQL databases. `state` and `status_at` only find rows. */
export const sqlTaskColumns: readonly SqlColumn<TaskRow>[] = [
  ['scope', 'text', ({ scope }) => scope],
  ['task_id', 'text', ({ taskId }) => taskId],
  ['version', 'integer', ({ version }) => version],
  ['head', 'text?', ({ head }) => head && JSON.stringify(head)],
  ['last_at', 'text', ({ lastAt }) => lastAt],
  ['state', 'text?', (row) => (row.head ? stateOf(row) : undefined)],
  ['status_at', 'number?', ({ head }) => head && Date.parse(head.statusAt)],
  ['ended_at', 'number?', ({ endedAt }) => endedAt],
  ['webhooks', 'number', ({ webhooks }) => webhooks],
  ['queue', 'text?', ({ queue }) => queue],
  ['wanted', 'flag', ({ wanted }) => wanted],
  ['fence', 'number', ({ fence }) => fence],
  ['holder', 'text?', ({ holder }) => holder],
  ['ahead_ms', 'number?', ({ aheadMs }) => aheadMs],
  ['waiting_since', 'number?', ({ waitingSince }) => waitingSince],
  ['due_at', 'number?', ({ dueAt }) => dueAt],
  ['lease_until', 'number?', ({ leaseUntil }) => leaseUntil],
  ['leased_at', 'number?', ({ leasedAt }) => leasedAt],
  ['turn_at', 'number?', ({ turnAt }) => turnAt],
];

/** The columns of a webhook. */
export const sqlWebhookColumns: readonly SqlColumn<WebhookRow>[] = [
  ['scope', 'text', ({ scope }) => scope],
  ['task_id', 'text', ({ taskId }) => taskId],
  ['id', 'text', ({ id }) => id],
  ['config', 'text', ({ config }) => JSON.stringify(config)],
  ['protocol_version', 'text', ({ protocolVersion }) => protocolVersion],
  ['queue', 'text', ({ queue }) => queue],
  ['cursor', 'number', ({ cursor }) => cursor],
  ['attempts', 'number', ({ attempts }) => attempts],
  ['retry_at', 'text?', ({ retryAt }) => retryAt],
  ['dead', 'text?', ({ dead }) => dead],
  ['fence', 'number', ({ fence }) => fence],
  ['holder', 'text?', ({ holder }) => holder],
  ['lease_until', 'number?', ({ leaseUntil }) => leaseUntil],
  ['ready_at', 'number?', ({ readyAt }) => readyAt],
];

/** The columns of a record. */
export const sqlRecordColumns: readonly SqlColumn<RecordRow>[] = [
  ['name', 'text', ({ name }) => name],
  ['json', 'text', ({ json }) => json],
  ['ttl_ms', 'number?', ({ ttlMs }) => ttlMs],
  ['expires_at', 'number?', ({ expiresAt }) => expiresAt],
];

/** A row as a driver reads it, by column. */
type Columns = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** The task in a row that was read. Its revision is 0 where the table has none. */
export const taskOfSql = (found: Columns): TaskRow => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  revision: Number(found.revision ?? 0),
  version: Number(found.version),
  head: found.head === null ? undefined : JSON.parse(String(found.head)),
  lastAt: String(found.last_at),
  webhooks: Number(found.webhooks),
  queue: text(found.queue),
  wanted: Boolean(found.wanted),
  fence: Number(found.fence),
  holder: text(found.holder),
  aheadMs: number(found.ahead_ms),
  waitingSince: number(found.waiting_since),
  dueAt: number(found.due_at),
  leaseUntil: number(found.lease_until),
  leasedAt: number(found.leased_at),
  turnAt: number(found.turn_at),
  endedAt: number(found.ended_at),
});

/** The webhook in a row that was read. */
export const webhookOfSql = (found: Columns): WebhookRow => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  id: String(found.id),
  revision: Number(found.revision ?? 0),
  config: JSON.parse(String(found.config)),
  protocolVersion: String(found.protocol_version),
  queue: String(found.queue),
  cursor: Number(found.cursor),
  attempts: Number(found.attempts),
  retryAt: text(found.retry_at),
  dead: text(found.dead),
  fence: Number(found.fence),
  holder: text(found.holder),
  leaseUntil: number(found.lease_until),
  readyAt: number(found.ready_at),
});

/** The record in a row that was read. */
export const recordOfSql = (found: Columns): RecordRow => ({
  name: String(found.name),
  revision: Number(found.revision),
  json: String(found.json),
  scope: text(found.scope),
  ttlMs: number(found.ttl_ms),
  expiresAt: number(found.expires_at),
});
