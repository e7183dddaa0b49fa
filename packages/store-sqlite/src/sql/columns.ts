import type { RecordRow, TaskRow, WebhookRow } from '@batonjs/store/adapter';
import {
  type SqlColumn,
  sqlRecordColumns,
  sqlTaskColumns,
  taskOfSql,
  webhookOfSql,
} from '@batonjs/store/sql';
import type { SqlRow, SqlValue } from './database.ts';

/** A task as it was read: the row, and its numbers in the file. */
export interface KeptTask extends TaskRow {
  readonly id: number;
  /** The number of its context; null while the log is empty. */
  readonly context: number | null;
}

/** A webhook as it was read: the row, and the number of its task. */
export interface KeptWebhook extends WebhookRow {
  readonly task: number;
}

const picked = (...names: string[]) => sqlTaskColumns.filter(([name]) => names.includes(name));

/** Columns that every commit changes. */
export const logColumns = picked('version', 'head', 'last_at');

/** Columns that tasks are listed by. `context` is one more. */
export const listColumns = picked('state', 'status_at', 'ended_at');

/** The columns of a record. */
export const recordColumns: readonly SqlColumn<RecordRow>[] = [
  ...sqlRecordColumns,
  ['revision', 'integer', ({ revision }) => revision],
  ['scope', 'text?', ({ scope }) => scope],
];

/** Columns that never change. */
const nameColumns = picked('scope', 'task_id');

/** The others: tasks are claimed by them. */
export const turnColumns = sqlTaskColumns.filter(
  (column) => ![nameColumns, logColumns, listColumns].flat().includes(column),
);

export const namesOf = (columns: readonly SqlColumn<never>[]): string[] => columns.map(([name]) => name);

export const valuesOf = <Row>(columns: readonly SqlColumn<Row>[], row: Row): SqlValue[] =>
  columns.map(([, , value]) => {
    const given = value(row);
    return typeof given === 'boolean' ? Number(given) : (given ?? null);
  });

/** Whether two rows have the same values in these columns. */
export function areAlike<Row>(columns: readonly SqlColumn<Row>[], one: Row, other: Row): boolean {
  for (const [, , value] of columns) if (value(one) !== value(other)) return false;
  return true;
}

/** What `CREATE TABLE` says of columns. */
export const definitionsOf = (columns: readonly SqlColumn<never>[]): string =>
  columns
    .map(([name, type]) => {
      const kind = type.startsWith('text') ? 'TEXT' : 'INTEGER';
      return `${name} ${kind}${type.endsWith('?') ? '' : ' NOT NULL'}`;
    })
    .join(', ');

/** What a statement reads of the table `tasks`. */
export const readColumns = ['id', 'context', ...namesOf(sqlTaskColumns)].join(', ');

/** Nothing is compared with the revision: this process has the only write lock while it decides. */
export const toTask = (found: SqlRow): KeptTask =>
  Object.assign(taskOfSql(found), {
    id: Number(found.id),
    context: found.context === null ? null : Number(found.context),
  });

export const toWebhook = (found: SqlRow): KeptWebhook =>
  Object.assign(webhookOfSql(found), { task: Number(found.task) });
