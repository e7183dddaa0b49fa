import type { RecordRow, TaskRow, WebhookRow } from '@batonjs/store/adapter';
import {
  type SqlColumn,
  sqlRecordColumns,
  sqlTaskColumns,
  taskOfSql,
  webhookOfSql,
} from '@batonjs/store/sql';

/** Called around each transaction, once for all writes in it. */
export interface TransactionHook {
  afterBegin?(): void;
  beforeCommit?(): void;
  afterCommit?(): void;
  afterRollback?(): void;
}

/** How the work of a store becomes transactions. They fail with `UNUSABLE` once the database cannot be used any more. */
export interface Transactions {
  /** Runs `work`, which only reads, on one state of the database. */
  read<T>(work: () => T): Promise<T>;
  /**
   * Runs `work` in a transaction. Resolves once that is committed. `work` refuses by throwing a `StoreError` before it
   * changes anything.
   */
  write<T>(work: () => T): Promise<T>;
  /** The same for what a power failure may undo. */
  writeUnsynced<T>(work: () => T): Promise<T>;
  /** Lets the event loop do other work. */
  pause(): Promise<void>;
}

/** A value that is bound to a statement. */
export type SqlValue = string | number | null;

/** A row of a result, by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement with parameters `?` or `?1`, which are bound in their order. Runs at once. */
export interface Statement {
  /** The first row, or undefined. The statement returns one row at most. */
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
  /** The rows one after the other, so that not all of them are in memory. The reader may stop early. */
  iterate(...values: SqlValue[]): Iterable<SqlRow>;
  /** `changes`: 0 if the statement changed nothing. */
  run(...values: SqlValue[]): { readonly changes: number | bigint };
}

/** A SQLite database, 3.38 or newer. That of `node:sqlite` is one. */
export interface Database {
  prepare(sql: string): Statement;
}

/** Large enough to need pages of its own: the write fails if the database cannot grow. */
const content = ' '.repeat(32 * 1024);

/**
 * Writes a row and deletes it, which shows whether the database can be written. Called inside the caller's transaction, which
 * must be committed to show anything.
 */
export function probeOf(db: Database): () => void {
  // No task has this number.
  const insert = db.prepare('INSERT INTO snapshots (task, version, snapshot) VALUES (-1, 0, ?)');
  const remove = db.prepare('DELETE FROM snapshots WHERE task = -1');
  return () => {
    insert.run(content);
    remove.run();
  };
}

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
