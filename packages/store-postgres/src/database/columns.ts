import type { RecordRow, TaskRow, WebhookRow } from '@batonjs/store/adapter';
import { termsOf } from '@batonjs/store/rules';
import {
  type SqlColumn,
  type SqlType,
  sqlRecordColumns,
  sqlTaskColumns,
  sqlWebhookColumns,
} from '@batonjs/store/sql';
import { keyOf } from './database.ts';

/** A row that is written, with the revision that it replaces; undefined for a new row. */
export interface Written<Row> {
  readonly row: Row;
  readonly replaced: number | undefined;
}

/** One whose key says where. */
export type WrittenAt<Row> = Written<Row> & { readonly key: string };

/** Columns of every row that others may write at once: it is replaced only if it is as it was read. */
const revised: readonly SqlColumn<Written<{ readonly revision: number }>>[] = [
  ['revision', 'number', ({ row }) => row.revision],
  ['replaced', 'number?', ({ replaced }) => replaced],
];

const ofRow = <Row>([name, type, value]: SqlColumn<Row>): SqlColumn<Written<Row>> => [
  name,
  type,
  ({ row }) => value(row),
];

const keyOfAny = (id: string | undefined): string | undefined => (id === undefined ? undefined : keyOf(id));

export const keysOfTerms = (scope: string, terms: readonly string[]): string[] =>
  terms.map((term) => keyOf(scope, term));

/** The terms of a task, for conditions on its row. */
export const termsOfTask = "string_to_array(term_keys, ' ')";

/** Ids are searched by their digests. */
export const taskColumns: readonly SqlColumn<WrittenAt<TaskRow>>[] = [
  ['key', 'text', ({ key }) => key],
  ['scope_key', 'text', ({ row }) => keyOf(row.scope)],
  ['context_key', 'text?', ({ row }) => row.head && keyOf(row.scope, row.head.contextId)],
  ['term_keys', 'text?', ({ row }) => keysOfTerms(row.scope, termsOf(row.head)).join(' ') || undefined],
  ['queue_key', 'text?', ({ row }) => keyOfAny(row.queue)],
  ['holder_key', 'text?', ({ row }) => keyOfAny(row.holder)],
  ['status_version', 'integer?', ({ row }) => row.head?.statusVersion],
  ...revised,
  ...sqlTaskColumns.map(ofRow),
];

export const webhookColumns: readonly SqlColumn<Written<WebhookRow>>[] = [
  ['key', 'text', ({ row }) => keyOf(row.scope, row.taskId)],
  ['config_key', 'text', ({ row }) => keyOf(row.id)],
  ['queue_key', 'text', ({ row }) => keyOf(row.queue)],
  ...revised,
  ...sqlWebhookColumns.map(ofRow),
];

export const recordColumns: readonly SqlColumn<Written<RecordRow>>[] = [
  ['scope_key', 'text?', ({ row }) => keyOfAny(row.scope)],
  ['scope', 'text?', ({ row }) => row.scope],
  ...revised,
  ...sqlRecordColumns.map(ofRow),
];

export const readTaskColumns = ['key', 'revision', ...sqlTaskColumns.map(([name]) => name)]
  .filter((name) => name !== 'state' && name !== 'status_at')
  .join(', ');

/** The type of a column, as arrays have it. */
const typeOf = (type: SqlType): string =>
  type.startsWith('text')
    ? 'text'
    : type.startsWith('number')
      ? 'float8'
      : type.startsWith('integer')
        ? 'bigint'
        : 'boolean';

/** What `CREATE TABLE` says of columns. */
export const definitionsOf = (columns: readonly SqlColumn<never>[]): string =>
  columns
    .map(([name, type]) => {
      const collation = type.startsWith('text') ? 'COLLATE "C"' : '';
      return `${name} ${typeOf(type)} ${collation} ${type.endsWith('?') ? '' : 'NOT NULL'}`;
    })
    .join(', ');

/** One array per column, for `unnest`. The driver wants `null` for undefined. */
export const valuesOf = <Row>(columns: readonly SqlColumn<Row>[], rows: readonly Row[]): unknown[][] =>
  columns.map(([, , value]) => rows.map((row) => value(row) ?? null));

/** Rows of one table that are written in one statement. */
export interface Upsert {
  /** How many values it has. */
  readonly count: number;
  /**
   * The statement, with values from `$first` on. It returns the key of each that was written, and `is_gone` if the row to be
   * replaced was deleted, and so inserted. `after`: a table of one row that is read before any row is written.
   */
  statement(first: number, after?: string): string;
}

/**
 * Inserts new rows and replaces those that have the revision in `replaced`; leaves out all others. Finds each on the index
 * by its conflict: the plan of a join, once kept, would go on reading the whole table as it grows.
 */
export function upsert(
  table: string,
  key: string,
  columns: readonly SqlColumn<never>[],
  revision = 'revision',
): Upsert {
  const keys = key.split(', ');
  const names = columns.map(([name]) => name);
  const set = names.filter((name) => !keys.includes(name)).map((name) => `${name} = excluded.${name}`);
  return {
    count: columns.length,
    statement: (first, after) => `INSERT INTO ${table} AS t (${names.join(', ')})
      SELECT u.* FROM ${after ? `${after}, ` : ''}unnest(${columns.map(([, type], n) => `$${first + n}::${typeOf(type)}[]`).join(', ')}) AS u
      ON CONFLICT (${key}) DO UPDATE SET ${set.join(', ')}
      WHERE t.${revision} = excluded.replaced
      RETURNING t.${keys[0]}, t.replaced IS NOT NULL AND t.xmax = 0 AS is_gone`,
  };
}
