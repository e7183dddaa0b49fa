import { stateOf, type TaskRow, type WebhookRow } from '@batonjs/store';
import type { SqlRow, SqlValue } from '../sql/database.ts';

/** A task as it was read: the row, and its numbers in the file. */
export interface KeptTask extends TaskRow {
  readonly id: number;
  /** The number of its context; null while the log is empty. */
  readonly context: number | null;
  /** Its columns, as they are in the file. */
  readonly kept: SqlRow;
}

/** A webhook as it was read: the row, and the number of its task. */
export interface KeptWebhook extends WebhookRow {
  readonly task: number;
}

/** A column and its value in a row. */
type Column<Row> = readonly [name: string, value: (row: Row) => SqlValue];

/** Columns that every commit changes. */
export const logColumns: readonly Column<TaskRow>[] = [
  ['version', ({ version }) => version],
  ['head', ({ head }) => (head ? JSON.stringify(head) : null)],
  ['last_at', ({ lastAt }) => lastAt],
];

/** Columns that tasks are listed by. `context` is one more. */
export const listColumns: readonly Column<TaskRow>[] = [
  ['state', (row) => (row.head ? stateOf(row) : null)],
  ['status_at', ({ head }) => (head ? Date.parse(head.statusAt) : null)],
  ['ended_at', ({ endedAt }) => endedAt ?? null],
];

/** Columns that tasks are claimed by. */
export const turnColumns: readonly Column<TaskRow>[] = [
  ['webhooks', ({ webhooks }) => webhooks],
  ['queue', ({ queue }) => queue ?? null],
  ['wanted', ({ wanted }) => (wanted ? 1 : 0)],
  ['fence', ({ fence }) => fence],
  ['holder', ({ holder }) => holder ?? null],
  ['ahead_ms', ({ aheadMs }) => aheadMs ?? null],
  ['waiting_since', ({ waitingSince }) => waitingSince ?? null],
  ['due_at', ({ dueAt }) => dueAt ?? null],
  ['lease_until', ({ leaseUntil }) => leaseUntil ?? null],
  ['leased_at', ({ leasedAt }) => leasedAt ?? null],
  ['turn_at', ({ turnAt }) => turnAt ?? null],
];

export const webhookColumns: readonly Column<WebhookRow>[] = [
  ['config', ({ config }) => JSON.stringify(config)],
  ['protocol_version', ({ protocolVersion }) => protocolVersion],
  ['queue', ({ queue }) => queue],
  ['cursor', ({ cursor }) => cursor],
  ['attempts', ({ attempts }) => attempts],
  ['retry_at', ({ retryAt }) => retryAt ?? null],
  ['dead', ({ dead }) => dead ?? null],
  ['fence', ({ fence }) => fence],
  ['holder', ({ holder }) => holder ?? null],
  ['lease_until', ({ leaseUntil }) => leaseUntil ?? null],
  ['ready_at', ({ readyAt }) => readyAt ?? null],
];

export const namesOf = (columns: readonly Column<never>[]): string[] => columns.map(([name]) => name);

export const valuesOf = <Row>(columns: readonly Column<Row>[], row: Row): SqlValue[] =>
  columns.map(([, value]) => value(row));

/** What a statement reads of the table `tasks`. */
export const taskColumns = [
  'id, scope, task_id, context',
  ...[logColumns, listColumns, turnColumns].flatMap((columns) => columns.map(([name]) => name)),
].join(', ');

const optional = (value: unknown): never => (value ?? undefined) as never;

export const toTask = (found: SqlRow): KeptTask => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  // This process has the only write lock while it decides: nothing is compared.
  revision: 0,
  version: Number(found.version),
  head: found.head === null ? undefined : JSON.parse(String(found.head)),
  lastAt: String(found.last_at),
  webhooks: Number(found.webhooks),
  queue: optional(found.queue),
  wanted: found.wanted === 1,
  fence: Number(found.fence),
  holder: optional(found.holder),
  aheadMs: optional(found.ahead_ms),
  waitingSince: optional(found.waiting_since),
  dueAt: optional(found.due_at),
  leaseUntil: optional(found.lease_until),
  leasedAt: optional(found.leased_at),
  turnAt: optional(found.turn_at),
  endedAt: optional(found.ended_at),
  id: Number(found.id),
  context: found.context as number | null,
  kept: found,
});

export const toWebhook = (found: SqlRow): KeptWebhook => ({
  scope: String(found.scope),
  taskId: String(found.task_id),
  id: String(found.id),
  config: JSON.parse(String(found.config)),
  protocolVersion: String(found.protocol_version),
  queue: String(found.queue),
  cursor: Number(found.cursor),
  attempts: Number(found.attempts),
  retryAt: optional(found.retry_at),
  dead: optional(found.dead),
  revision: 0,
  fence: Number(found.fence),
  holder: optional(found.holder),
  leaseUntil: optional(found.lease_until),
  readyAt: optional(found.ready_at),
  task: Number(found.task),
});
