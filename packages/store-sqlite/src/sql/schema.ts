import type { Layouts } from '@batonjs/store/adapter';
import { askingStates } from '@batonjs/store/rules';
import { sqlTaskColumns, sqlWebhookColumns } from '@batonjs/store/sql';
import { type Database, definitionsOf, recordColumns } from './database.ts';

/** The application id of files of this store: "Batn". */
export const applicationId = 0x42_61_74_6e;

/**
 * The layouts of the data, see `Layouts`. A test compares them with stored data. The first release that keeps data for
 * later ones began with 900.
 */
export const layouts: Layouts<Database> = { current: 900, steps: [] };

/** Tasks that wait for an answer of their client. */
export const asking = `state IN (${askingStates.map((state) => `'${state}'`).join(', ')})
    AND waiting_since IS NULL AND lease_until IS NULL`;

/**
 * The tables. Only members that are searched by have columns; the rest of a head is JSON. Columns without a value keep
 * their row out of an index. Times are milliseconds since 1970; `lease_until` and `leased_at` are of the clock of leases.
 */
export const schema = `
  CREATE TABLE contexts (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    context_id TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    UNIQUE (scope, context_id)
  ) STRICT;

  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    context INTEGER,
    ${definitionsOf(sqlTaskColumns)},
    UNIQUE (task_id, scope)
  ) STRICT;
  CREATE INDEX tasks_by_status ON tasks (scope, state, status_at, task_id) WHERE state IS NOT NULL;
  CREATE INDEX tasks_by_context ON tasks (context, state, status_at) WHERE state IS NOT NULL;
  CREATE INDEX tasks_waiting ON tasks (queue, waiting_since) WHERE waiting_since IS NOT NULL;
  CREATE INDEX tasks_asking ON tasks (queue, status_at) WHERE ${asking};
  CREATE INDEX tasks_due ON tasks (queue, due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX tasks_leased ON tasks (queue, lease_until) WHERE lease_until IS NOT NULL;
  CREATE INDEX tasks_held ON tasks (holder) WHERE holder IS NOT NULL;
  CREATE INDEX tasks_turns ON tasks (queue, scope, turn_at, id, context) WHERE turn_at IS NOT NULL;
  CREATE INDEX tasks_ended ON tasks (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE terms (
    scope TEXT NOT NULL,
    term TEXT NOT NULL,
    state TEXT NOT NULL,
    status_at INTEGER NOT NULL,
    task_id TEXT NOT NULL,
    task INTEGER NOT NULL,
    PRIMARY KEY (scope, term, state, status_at, task_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX terms_of_task ON terms (task, term);

  CREATE TABLE facts (
    task INTEGER NOT NULL,
    version INTEGER NOT NULL,
    commit_id TEXT NOT NULL,
    fact TEXT NOT NULL,
    PRIMARY KEY (task, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE snapshots (
    task INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    snapshot TEXT NOT NULL
  ) STRICT;

  CREATE TABLE pieces (
    task INTEGER NOT NULL,
    version INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (task, version, piece)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE once_keys (
    task INTEGER NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (task, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE webhooks (
    task INTEGER NOT NULL,
    ${definitionsOf(sqlWebhookColumns)},
    PRIMARY KEY (task, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhooks_ready ON webhooks (queue, ready_at) WHERE ready_at IS NOT NULL;
  CREATE INDEX webhooks_held ON webhooks (holder) WHERE holder IS NOT NULL;
  CREATE INDEX webhooks_dead ON webhooks (queue, scope, task_id, id) WHERE dead IS NOT NULL;

  CREATE TABLE counts (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE queues (
    queue TEXT PRIMARY KEY,
    turns INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE callers (
    queue TEXT NOT NULL,
    scope TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (queue, scope)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX callers_turns ON callers (queue, turn);

  CREATE TABLE records (
    ${definitionsOf(recordColumns)},
    PRIMARY KEY (name)
  ) STRICT;
  CREATE INDEX records_of_scope ON records (scope, name) WHERE scope IS NOT NULL;
  CREATE INDEX records_by_end ON records (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE buckets (
    name TEXT PRIMARY KEY,
    full_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY,
    touched TEXT NOT NULL
  ) STRICT;
`;

/**
 * The words of tasks, for searches by text: only where that was switched on. The index keeps no text, and letters are
 * compared as they are: `wordsOf` has made them alike. `=` begins the mark of a scope, which no word has.
 */
export const textSchema = `
  CREATE VIRTUAL TABLE IF NOT EXISTS task_texts USING fts5(
    words,
    content='',
    contentless_delete=1,
    detail=none,
    tokenize="ascii tokenchars '='"
  );
  CREATE TRIGGER IF NOT EXISTS task_texts_deleted AFTER DELETE ON tasks BEGIN
    DELETE FROM task_texts WHERE rowid = old.id;
  END;
`;
