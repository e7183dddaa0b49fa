import { StoreError } from '@batonjs/store';

/** The application id of files of this store: "Batn". */
export const applicationId = 0x42_61_74_6e;

/**
 * The migrations from each version to the next. The first entry makes version 1 from an empty file. Entries that
 * were released are never changed; a change of the schema is one more entry.
 */
export const migrations: readonly string[] = [
  // Only members that are searched by have columns; the rest of a head is JSON. Times are milliseconds since 1970.
  `
  CREATE TABLE contexts (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    context_id TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    UNIQUE (scope, context_id)
  ) STRICT;

  CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    task_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    head TEXT NOT NULL,
    context INTEGER NOT NULL,
    state TEXT NOT NULL,
    status_at INTEGER NOT NULL,
    closed INTEGER NOT NULL,
    queue TEXT,
    wanted INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    holder TEXT,
    lease_until INTEGER,
    waiting_since INTEGER,
    ready_at INTEGER,
    has_push INTEGER NOT NULL,
    UNIQUE (task_id, scope)
  ) STRICT;
  CREATE INDEX tasks_by_status ON tasks (scope, state, status_at, task_id);
  CREATE INDEX tasks_by_context ON tasks (context, state, status_at);
  CREATE INDEX tasks_waiting ON tasks (queue, waiting_since) WHERE waiting_since IS NOT NULL;
  CREATE INDEX tasks_ready ON tasks (queue, ready_at) WHERE ready_at IS NOT NULL;
  CREATE INDEX tasks_held ON tasks (holder) WHERE holder IS NOT NULL;
  CREATE INDEX tasks_closed ON tasks (status_at) WHERE closed = 1;

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

  CREATE TABLE once_keys (
    task INTEGER NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (task, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE totals (
    scope TEXT NOT NULL,
    state TEXT NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (scope, state)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY,
    touched TEXT NOT NULL
  ) STRICT;

  CREATE TABLE push_configs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    task_id TEXT NOT NULL,
    config_id TEXT NOT NULL,
    config TEXT NOT NULL,
    protocol_version TEXT NOT NULL,
    queue TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    retry_at INTEGER,
    dead TEXT,
    fence INTEGER NOT NULL,
    holder TEXT,
    lease_until INTEGER,
    ready_at INTEGER,
    UNIQUE (scope, task_id, config_id)
  ) STRICT;
  CREATE INDEX push_configs_ready ON push_configs (queue, ready_at) WHERE ready_at IS NOT NULL;
  CREATE INDEX push_configs_held ON push_configs (holder) WHERE holder IS NOT NULL;
  CREATE INDEX push_configs_dead ON push_configs (queue, scope, task_id, config_id) WHERE dead IS NOT NULL;
  `,
  // Leases go by the host's clock from here on. Existing leases were granted by another clock: they end.
  `
  ALTER TABLE tasks ADD COLUMN leased_at INTEGER;
  UPDATE tasks SET ready_at = NULL, lease_until = 0, leased_at = 0 WHERE holder IS NOT NULL;
  CREATE INDEX tasks_leased ON tasks (queue, lease_until) WHERE lease_until IS NOT NULL;
  `,
  // The order of schedules. Rows of other tasks are not in the index, and cost it nothing.
  `
  ALTER TABLE tasks ADD COLUMN ahead_ms INTEGER;
  ALTER TABLE tasks ADD COLUMN turn_at INTEGER;
  CREATE INDEX tasks_turns ON tasks (queue, scope, turn_at, id, context) WHERE turn_at IS NOT NULL;
  CREATE TABLE served (
    queue TEXT NOT NULL,
    scope TEXT NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (queue, scope)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX served_turns ON served (queue, turn);
  `,
  // The buckets of rates. `full_at` is of the clock of leases.
  `
  CREATE TABLE buckets (
    name TEXT PRIMARY KEY,
    full_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // How many tasks wait in each queue. Triggers count, so that processes of older releases do as well.
  `
  CREATE TABLE waiting (
    queue TEXT PRIMARY KEY,
    tasks INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO waiting SELECT queue, count(*) FROM tasks WHERE waiting_since IS NOT NULL GROUP BY queue;
  CREATE TRIGGER waiting_inserted AFTER INSERT ON tasks WHEN new.waiting_since IS NOT NULL BEGIN
    INSERT INTO waiting VALUES (new.queue, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
  END;
  CREATE TRIGGER waiting_begun AFTER UPDATE OF queue, waiting_since ON tasks
  WHEN new.waiting_since IS NOT NULL AND (old.waiting_since IS NULL OR old.queue <> new.queue) BEGIN
    INSERT INTO waiting VALUES (new.queue, 1) ON CONFLICT DO UPDATE SET tasks = tasks + 1;
  END;
  CREATE TRIGGER waiting_ended AFTER UPDATE OF queue, waiting_since ON tasks
  WHEN old.waiting_since IS NOT NULL AND (new.waiting_since IS NULL OR old.queue <> new.queue) BEGIN
    UPDATE waiting SET tasks = tasks - 1 WHERE queue = old.queue;
  END;
  CREATE TRIGGER waiting_deleted AFTER DELETE ON tasks WHEN old.waiting_since IS NOT NULL BEGIN
    UPDATE waiting SET tasks = tasks - 1 WHERE queue = old.queue;
  END;
  `,
  // Texts that are longer than a value may be, where the database has a bound. Version 0 is that of the snapshot.
  `
  CREATE TABLE pieces (
    task INTEGER NOT NULL,
    version INTEGER NOT NULL,
    piece INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (task, version, piece)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** Throws a `StoreError` of code `UNUSABLE` if a schema has more than the `known` versions. `name` begins its message. */
export function mustBeKnown(name: string, version: number, known: number): void {
  if (version <= known) return;
  const why = `its schema has version ${version}, this release knows ${known}`;
  throw new StoreError('UNUSABLE', `${name} was written by a newer release: ${why}`);
}
