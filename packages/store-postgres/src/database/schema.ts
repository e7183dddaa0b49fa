import type { Layouts } from '@batonjs/store/adapter';
import { askingStates } from '@batonjs/store/rules';
import { definitionsOf, recordColumns, taskColumns, termsOfTask, webhookColumns } from './columns.ts';
import type { Session } from './database.ts';

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<{ readonly session: Session; readonly schema: string }> = {
  current: 900,
  steps: [],
};

/** Tasks that wait for an answer of their client. */
export const asking = `state IN (${askingStates.map((state) => `'${state}'`).join(', ')})
  AND waiting_since IS NULL AND lease_until IS NULL`;

/**
 * The statements that create the tables, for a schema name in quotes. Keys are digests: an id may be longer than an index
 * takes. JSON is text: `jsonb` refuses U+0000. Times are milliseconds since 1970. Rows of `tasks`, `webhooks`, `records`,
 * `queues` and `buckets` say in `replaced` which revision they replaced, so that a write of another one is noticed.
 */
export const tables = (schema: string): readonly string[] => [
  // Room on each page for the next version of its rows: an update that changes no indexed column then writes to no index.
  `CREATE TABLE ${schema}.tasks (
    ${definitionsOf(taskColumns)},
    PRIMARY KEY (key)
  ) WITH (fillfactor = 60)`,
  `CREATE INDEX tasks_by_status ON ${schema}.tasks (scope_key, state, status_at)`,
  `CREATE INDEX tasks_by_context ON ${schema}.tasks (context_key, state, status_at)`,
  `CREATE INDEX tasks_by_term ON ${schema}.tasks USING gin ((${termsOfTask})) WHERE term_keys IS NOT NULL`,
  `CREATE INDEX tasks_waiting ON ${schema}.tasks (queue_key, waiting_since) WHERE waiting_since IS NOT NULL`,
  `CREATE INDEX tasks_asking ON ${schema}.tasks (queue_key, status_at) WHERE ${asking}`,
  `CREATE INDEX tasks_due ON ${schema}.tasks (queue_key, due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX tasks_left ON ${schema}.tasks (queue_key, lease_until) WHERE lease_until IS NOT NULL`,
  `CREATE INDEX tasks_held ON ${schema}.tasks (holder_key) WHERE holder_key IS NOT NULL`,
  `CREATE INDEX tasks_turns ON ${schema}.tasks (queue_key, scope_key, turn_at) WHERE turn_at IS NOT NULL`,
  `CREATE INDEX tasks_ended ON ${schema}.tasks (ended_at) WHERE ended_at IS NOT NULL`,
  `CREATE TABLE ${schema}.facts (
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    commit_id text NOT NULL,
    fact text NOT NULL,
    PRIMARY KEY (key, version)
  )`,
  `CREATE TABLE ${schema}.snapshots (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    snapshot text NOT NULL
  )`,
  `CREATE TABLE ${schema}.once_keys (
    key text COLLATE "C" NOT NULL,
    once_key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (key, once_key)
  )`,
  `CREATE TABLE ${schema}.webhooks (
    ${definitionsOf(webhookColumns)},
    PRIMARY KEY (key, config_key)
  )`,
  `CREATE INDEX webhooks_ready ON ${schema}.webhooks (queue_key, ready_at) WHERE ready_at IS NOT NULL`,
  `CREATE INDEX webhooks_dead ON ${schema}.webhooks (queue_key, scope, task_id, id) WHERE dead IS NOT NULL`,
  // How many tasks of a scope have a state, and how many of a queue wait: in parts, so that processes do not wait for one row.
  `CREATE TABLE ${schema}.counts (
    key text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    part smallint NOT NULL,
    tasks bigint NOT NULL,
    PRIMARY KEY (key, name, part)
  )`,
  `CREATE TABLE ${schema}.queues (
    queue_key text COLLATE "C" PRIMARY KEY,
    queue text COLLATE "C" NOT NULL,
    revision float8 NOT NULL,
    replaced float8,
    turns float8 NOT NULL
  )`,
  `CREATE TABLE ${schema}.callers (
    queue_key text COLLATE "C" NOT NULL,
    scope_key text COLLATE "C" NOT NULL,
    turn float8 NOT NULL,
    PRIMARY KEY (queue_key, scope_key)
  )`,
  `CREATE INDEX callers_turns ON ${schema}.callers (queue_key, turn)`,
  `CREATE TABLE ${schema}.records (
    ${definitionsOf(recordColumns)},
    PRIMARY KEY (name)
  )`,
  `CREATE INDEX records_of_scope ON ${schema}.records (scope_key, name) WHERE scope_key IS NOT NULL`,
  `CREATE INDEX records_by_end ON ${schema}.records (expires_at) WHERE expires_at IS NOT NULL`,
  // Not in the write-ahead log, so that no take waits for the disk: after a crash, all buckets are full.
  `CREATE UNLOGGED TABLE ${schema}.buckets (
    key text COLLATE "C" PRIMARY KEY,
    full_at float8 NOT NULL,
    replaced float8
  )`,
  // The processes that listen for notifications. After a crash, none does.
  `CREATE UNLOGGED TABLE ${schema}.listeners (
    id text PRIMARY KEY,
    until float8 NOT NULL
  )`,
  `CREATE TABLE ${schema}.probes (
    id text PRIMARY KEY,
    content text NOT NULL
  )`,
];

/**
 * The statements that create the words of tasks, for searches by text: only where that was switched on. They keep no text.
 * A lexeme that begins with `=` is the key of the scope.
 */
export const textTables = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.task_texts (
    key text COLLATE "C" PRIMARY KEY REFERENCES ${schema}.tasks ON DELETE CASCADE,
    id bigint GENERATED ALWAYS AS IDENTITY,
    words tsvector NOT NULL
  )`,
  `CREATE INDEX task_texts_by_word ON ${schema}.task_texts USING gin (words)`,
];
