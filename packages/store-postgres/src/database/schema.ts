/**
 * The migrations from each version to the next, for a schema name in quotes. The first entry makes version 1 from
 * nothing. Entries that were released are never changed; a change of the schema is one more entry.
 */
export const migrations: readonly ((schema: string) => readonly string[])[] = [
  // Keys are digests: an id may be longer than an index takes. JSON is text: `jsonb` refuses U+0000. Times are
  // milliseconds since 1970.
  (schema) => [
    `CREATE TABLE ${schema}.tasks (
      key text COLLATE "C" PRIMARY KEY,
      scope text COLLATE "C" NOT NULL,
      task_id text COLLATE "C" NOT NULL,
      scope_key text COLLATE "C" NOT NULL,
      name_key text COLLATE "C" NOT NULL,
      context_key text COLLATE "C" NOT NULL,
      revision bigint NOT NULL,
      version bigint NOT NULL,
      head text NOT NULL,
      last_at text NOT NULL,
      state text COLLATE "C" NOT NULL,
      status_at bigint NOT NULL,
      status_version bigint NOT NULL,
      closed boolean NOT NULL,
      queue text COLLATE "C",
      queue_key text COLLATE "C",
      wanted boolean NOT NULL,
      fence bigint NOT NULL,
      holder text COLLATE "C",
      holder_key text COLLATE "C",
      lease_until bigint,
      waiting_since bigint,
      ready_at bigint,
      has_push boolean NOT NULL
    )`,
    `CREATE INDEX tasks_by_status ON ${schema}.tasks (scope_key, state, status_at)`,
    `CREATE INDEX tasks_by_context ON ${schema}.tasks (context_key, state, status_at)`,
    `CREATE INDEX tasks_by_name ON ${schema}.tasks (name_key)`,
    `CREATE INDEX tasks_waiting ON ${schema}.tasks (queue_key) WHERE waiting_since IS NOT NULL`,
    `CREATE INDEX tasks_ready ON ${schema}.tasks (queue_key, ready_at) WHERE ready_at IS NOT NULL`,
    `CREATE INDEX tasks_held ON ${schema}.tasks (holder_key) WHERE holder_key IS NOT NULL`,
    `CREATE INDEX tasks_closed ON ${schema}.tasks (status_at) WHERE closed`,
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
    `CREATE TABLE ${schema}.totals (
      scope_key text COLLATE "C" NOT NULL,
      state text COLLATE "C" NOT NULL,
      part smallint NOT NULL,
      tasks bigint NOT NULL,
      PRIMARY KEY (scope_key, state, part)
    )`,
    `CREATE TABLE ${schema}.push_configs (
      key text COLLATE "C" NOT NULL,
      config_key text COLLATE "C" NOT NULL,
      scope text COLLATE "C" NOT NULL,
      task_id text COLLATE "C" NOT NULL,
      config_id text COLLATE "C" NOT NULL,
      config text NOT NULL,
      protocol_version text NOT NULL,
      queue text COLLATE "C" NOT NULL,
      queue_key text COLLATE "C" NOT NULL,
      cursor bigint NOT NULL,
      attempts bigint NOT NULL,
      retry_at bigint,
      dead text,
      fence bigint NOT NULL,
      holder text COLLATE "C",
      lease_until bigint,
      ready_at bigint,
      PRIMARY KEY (key, config_key)
    )`,
    `CREATE INDEX push_configs_ready ON ${schema}.push_configs (queue_key, ready_at) WHERE ready_at IS NOT NULL`,
    `CREATE INDEX push_configs_dead ON ${schema}.push_configs (queue_key) WHERE dead IS NOT NULL`,
    `CREATE TABLE ${schema}.probes (
      id text PRIMARY KEY,
      content text NOT NULL
    )`,
  ],
  // The order of schedules. Other tasks are in neither index, and cost them nothing.
  (schema) => [
    `ALTER TABLE ${schema}.tasks ADD COLUMN ahead_ms bigint`,
    `ALTER TABLE ${schema}.tasks ADD COLUMN turn_at bigint`,
    `CREATE INDEX tasks_turns ON ${schema}.tasks (queue_key, scope_key, turn_at) WHERE turn_at IS NOT NULL`,
    `CREATE INDEX tasks_running ON ${schema}.tasks (queue_key) WHERE holder_key IS NOT NULL AND ahead_ms IS NOT NULL`,
    `CREATE TABLE ${schema}.served (
      queue_key text COLLATE "C" NOT NULL,
      scope_key text COLLATE "C" NOT NULL,
      turn bigint NOT NULL,
      PRIMARY KEY (queue_key, scope_key)
    )`,
    `CREATE INDEX served_turns ON ${schema}.served (queue_key, turn)`,
  ],
  // The buckets of rates. Not in the write-ahead log, so that no take waits for the disk: after a crash, all are full.
  (schema) => [
    `CREATE UNLOGGED TABLE ${schema}.buckets (
      key text COLLATE "C" PRIMARY KEY,
      full_at double precision NOT NULL,
      wait_ms double precision NOT NULL
    )`,
  ],
  // Room on each page for the next version of its rows: an update that changes no indexed column then writes to no index.
  // Processes of older releases still write `name_key`.
  (schema) => [
    `ALTER TABLE ${schema}.tasks SET (fillfactor = 60)`,
    `ALTER TABLE ${schema}.tasks ALTER COLUMN name_key DROP NOT NULL`,
    `DROP INDEX ${schema}.tasks_by_name`,
  ],
  // How many tasks wait in each queue. A trigger counts, so that processes of older releases do as well; each in rows of its
  // own, so that they do not wait for each other.
  (schema) => [
    `CREATE TABLE ${schema}.waiting (
      queue_key text COLLATE "C" NOT NULL,
      part smallint NOT NULL,
      tasks bigint NOT NULL,
      PRIMARY KEY (queue_key, part)
    )`,
    `LOCK TABLE ${schema}.tasks IN SHARE ROW EXCLUSIVE MODE`,
    `INSERT INTO ${schema}.waiting SELECT queue_key, 0, count(*) FROM ${schema}.tasks
      WHERE waiting_since IS NOT NULL GROUP BY queue_key`,
    `CREATE FUNCTION ${schema}.count_waiting() RETURNS trigger LANGUAGE plpgsql AS $count$
      BEGIN
        IF TG_OP <> 'INSERT' AND OLD.waiting_since IS NOT NULL THEN ${counted(schema, 'OLD', -1)}; END IF;
        IF TG_OP <> 'DELETE' AND NEW.waiting_since IS NOT NULL THEN ${counted(schema, 'NEW', 1)}; END IF;
        RETURN NULL;
      END $count$`,
    `CREATE TRIGGER waiting_inserted AFTER INSERT ON ${schema}.tasks FOR EACH ROW
      WHEN (NEW.waiting_since IS NOT NULL) EXECUTE FUNCTION ${schema}.count_waiting()`,
    `CREATE TRIGGER waiting_changed AFTER UPDATE ON ${schema}.tasks FOR EACH ROW
      WHEN ((OLD.waiting_since IS NULL) <> (NEW.waiting_since IS NULL)
        OR NEW.waiting_since IS NOT NULL AND OLD.queue_key <> NEW.queue_key)
      EXECUTE FUNCTION ${schema}.count_waiting()`,
    `CREATE TRIGGER waiting_deleted AFTER DELETE ON ${schema}.tasks FOR EACH ROW
      WHEN (OLD.waiting_since IS NOT NULL) EXECUTE FUNCTION ${schema}.count_waiting()`,
  ],
  // Turns that run, those of tasks without an order too, are found by their holders.
  (schema) => [`DROP INDEX IF EXISTS ${schema}.tasks_running`],
];

/** One more or one less waiting task. */
const counted = (schema: string, row: 'OLD' | 'NEW', tasks: number): string =>
  `INSERT INTO ${schema}.waiting AS w VALUES (${row}.queue_key, pg_backend_pid() % 16, ${tasks})
      ON CONFLICT (queue_key, part) DO UPDATE SET tasks = w.tasks + excluded.tasks`;
