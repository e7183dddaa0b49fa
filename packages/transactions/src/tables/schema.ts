import type { Dialect } from '../sql-driver.ts';

/** The serial number of a row, by which rows keep their order. */
const serial: Record<Dialect, string> = {
  postgres: 'bigint generated always as identity primary key',
  sqlite: 'integer primary key autoincrement',
};

/** The statements that create the tables, one by one. */
export const creatingTables = (dialect: Dialect): readonly string[] => [
  // The largest fence with which a turn of the task was here; `at` is the time of its last transaction.
  `create table if not exists baton_transaction_tasks (
  scope text not null, task text not null, fence bigint not null, at bigint not null,
  primary key (scope, task))`,
  'create index if not exists baton_transaction_tasks_at on baton_transaction_tasks (at)',
  `create table if not exists baton_transactions (
  scope text not null, task text not null, turn text not null, name text not null,
  fence bigint not null, result text not null, at bigint not null,
  primary key (scope, task, turn, name))`,
  // `due`: when the message is to be sent, or sent again. `error`: why the server refused it.
  `create table if not exists baton_submissions (
  seq ${serial[dialect]}, agent text not null, task text not null, request text not null,
  at bigint not null, due bigint not null, tries integer not null, error text)`,
  'create index if not exists baton_submissions_due on baton_submissions (agent, due) where error is null',
  'create index if not exists baton_submissions_task on baton_submissions (agent, task, seq)',
];

/**
 * The statements that create the tables of this package, for your migrations. They are run by themselves, where the
 * tables are missing, in the first transaction that needs them.
 */
export const transactionTables = (dialect: Dialect): string =>
  creatingTables(dialect)
    .map((statement) => `${statement};\n`)
    .join('');

/** Milliseconds since 1970 by the clock of the database, which is one for all processes. */
export const now: Record<Dialect, string> = {
  postgres: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
  sqlite: "cast((julianday('now') - 2440587.5) * 86400000 as integer)",
};
