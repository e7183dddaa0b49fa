import type { CallerRow, QueueRow } from '@batonjs/store/adapter';
import { forgottenTurns } from '@batonjs/store/rules';
import { wordsOf } from '@batonjs/store/sql';
import { recordColumns, taskColumns, upsert, valuesOf, webhookColumns } from '../database/columns.ts';
import { clock, type Database, keyOf, markOf, type Session } from '../database/database.ts';
import { Raced } from '../database/postgres-error.ts';
import { waitingKey } from '../tables/searches.ts';
import type { Collected } from './collected.ts';

/** How many rows count the same: processes that write at once do not wait for one row. */
const parts = 16;

const anyPart = (): number => Math.floor(Math.random() * parts);

/** The part that deletions count in, which no commit waits for. */
const partOfDeletions = parts;

/** A statement, and the name of its plan: connections may be shared by stores on several schemas. */
interface Planned {
  readonly plan: string;
  readonly text: string;
}

const planned = (text: string): Planned => ({ plan: `baton_${keyOf(text)}`, text });

/** The statements for rows that are no tasks. */
const statementsOf = (schema: string) => ({
  webhooks: upsert(`${schema}.webhooks`, 'key, config_key', webhookColumns).statement(1),
  deleteWebhooks: `DELETE FROM ${schema}.webhooks
      WHERE (key, config_key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
  records: upsert(`${schema}.records`, 'name', recordColumns).statement(1),
  deleteRecords: `DELETE FROM ${schema}.records WHERE name = ANY($1::text[])`,
  // Only rows that are locked, and together count nothing: what another transaction adds meanwhile is in none of them.
  tidy: `WITH locked AS (
        SELECT key, name, part, tasks FROM ${schema}.counts WHERE key = ANY($1::text[]) FOR UPDATE SKIP LOCKED
      ), empty AS (SELECT key, name FROM locked GROUP BY key, name HAVING sum(tasks) = 0)
      DELETE FROM ${schema}.counts AS c USING locked AS l, empty AS e
      WHERE (c.key, c.name, c.part) = (l.key, l.name, l.part) AND (c.key, c.name) = (e.key, e.name)`,
  queue: `INSERT INTO ${schema}.queues AS q (queue_key, queue, revision, replaced, turns)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (queue_key) DO UPDATE
      SET revision = excluded.revision, replaced = excluded.replaced, turns = excluded.turns
      WHERE q.revision = excluded.replaced RETURNING queue_key`,
  callers: `INSERT INTO ${schema}.callers (queue_key, scope_key, turn)
      SELECT * FROM unnest($1::text[], $2::text[], $3::float8[])
      ON CONFLICT (queue_key, scope_key) DO UPDATE SET turn = excluded.turn`,
  forget: `DELETE FROM ${schema}.callers WHERE queue_key = $1 AND turn <= $2`,
});

export type Writer = ReturnType<typeof writerOf>;

/** Writes what the changes of a transaction come to. */
export function writerOf(
  schema: string,
  { lockTimeoutMs }: Pick<Database, 'lockTimeoutMs'>,
  isHeard: string,
) {
  /** Of the statements that come one after the other. Transactions at the same time do not wait for one row either. */
  const ownPart = anyPart();
  const tasks = upsert(`${schema}.tasks`, 'key', taskColumns);
  const at = (n: number) => `$${tasks.count + 1 + n}`;
  // In the order in which all transactions write.
  const counts = ([of, keys, names, tasks, part]: readonly string[], condition = '') =>
    `INSERT INTO ${schema}.counts AS c (key, name, part, tasks)
      SELECT u.key, u.name, ${part}::smallint, sum(u.tasks)
      FROM unnest(${of}::text[], ${keys}::text[], ${names}::text[], ${tasks}::bigint[]) AS u (of, key, name, tasks)
      ${condition} GROUP BY u.key, u.name HAVING sum(u.tasks) <> 0 ORDER BY u.key, u.name
      ON CONFLICT (key, name, part) DO UPDATE SET tasks = c.tasks + excluded.tasks`;
  const isWritten = 'WHERE u.of IN (SELECT key FROM written)';
  // Outside of a transaction no other statement could bound the wait for the lock of a row.
  const bound = `SELECT set_config('lock_timeout', '${lockTimeoutMs}', true)`;
  // The next commit that waits for the disk brings all that was committed before it there.
  const unflushed = `${bound}, set_config('synchronous_commit', 'off', true)`;
  // A task that is just being deleted is still there for this statement, and the record of its deletion is not.
  // One row at a time: a plan that was kept for all of a list would go on reading the whole table as it grows.
  const isAbsent = (table: string, key: string, keys: string) =>
    `NOT EXISTS (SELECT FROM unnest(${keys}::text[]) AS n (key),
        LATERAL (SELECT FROM ${schema}.${table} AS t WHERE t.${key} = n.key LIMIT 1) AS found)`;
  const hasRoom = `NOT EXISTS (SELECT FROM unnest(${at(17)}::text[], ${at(18)}::float8[]) AS n (key, most),
      LATERAL (SELECT sum(tasks) AS waiting FROM ${schema}.counts AS t WHERE t.key = n.key) AS found
      WHERE found.waiting >= n.most)`;
  const mayBegin = `${isAbsent('records', 'name', at(15))} AND ${isAbsent('tasks', 'key', at(16))} AND ${hasRoom}`;
  // One statement: each costs a round trip. It fails, by a division, where a row that was remembered is gone. What belongs
  // to a task that is not written is not written either.
  const statement = (more: string, first = bound) => `WITH bound AS MATERIALIZED (${first}),
      written AS (${tasks.statement(1, `(SELECT FROM bound WHERE ${mayBegin}) AS b`)}),
      facts AS (
        INSERT INTO ${schema}.facts (key, version, commit_id, fact)
        SELECT u.* FROM unnest(${at(0)}::text[], ${at(1)}::bigint[], ${at(2)}::text[], ${at(3)}::text[])
          AS u (of, version, commit_id, fact) ${isWritten}
      ),
      once AS (
        INSERT INTO ${schema}.once_keys (key, once_key, version)
        SELECT u.* FROM unnest(${at(4)}::text[], ${at(5)}::text[], ${at(6)}::bigint[])
          AS u (of, once_key, version) ${isWritten}
      ),
      snapshots AS (
        INSERT INTO ${schema}.snapshots (key, version, snapshot)
        SELECT u.* FROM unnest(${at(7)}::text[], ${at(8)}::bigint[], ${at(9)}::text[])
          AS u (of, version, snapshot) ${isWritten}
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, snapshot = excluded.snapshot
      ),
      ${more}
      counts AS (${counts([10, 11, 12, 13, 14].map(at), isWritten)})
      SELECT key, ${clock} AS now, 1 / (CASE WHEN is_gone THEN 0 ELSE 1 END) AS is_there,
      ${isHeard} AS is_heard FROM written`;
  const taskPlan = planned(statement(''));
  const claimPlan = planned(statement('', unflushed));
  const planWithTexts = planned(
    statement(`texts AS (
        INSERT INTO ${schema}.task_texts (key, words)
        SELECT u.of, array_to_tsvector(string_to_array(u.words, ' '))
        FROM unnest(${at(19)}::text[], ${at(20)}::text[]) AS u (of, words) ${isWritten}
      ),`),
  );
  const deletions = ['facts', 'snapshots', 'once_keys', 'webhooks'].map(
    (table) => `${table} AS (DELETE FROM ${schema}.${table} WHERE key = ANY($1::text[]))`,
  );
  const taskDeletion = `WITH ${deletions}, counts AS (${counts(['$2', '$3', '$4', '$5', '$6'])})
      DELETE FROM ${schema}.tasks WHERE key = ANY($1::text[])`;
  const sql = statementsOf(schema);

  /**
   * The name, the text and the values of the statement that writes tasks, with all that belongs to them. It returns a row with
   * the `key` and the database's clock, `now`, for each task that had the revision that was read, and whether others listen,
   * `is_heard`.
   */
  function tasksWritten(
    collected: Collected,
    { part = ownPart, mayBeLost = false } = {},
  ): readonly [plan: string, text: string, values: readonly unknown[]] {
    const texts = writer.keepsTexts && collected.texts.length > 0 ? wordedTexts(collected.texts) : [];
    const { plan, text } = texts.length > 0 ? planWithTexts : mayBeLost ? claimPlan : taskPlan;
    return [plan, text, [...valuesOf(taskColumns, collected.tasks), ...logsOf(collected, part), ...texts]];
  }

  async function writeQueue(
    session: Session,
    { queue, revision, turns }: QueueRow,
    replaced: number | undefined,
    callers: readonly CallerRow[] = [],
  ): Promise<void> {
    const values = [keyOf(queue), queue, revision, replaced ?? null, turns];
    if ((await session.query(sql.queue, values)).length === 0) throw new Raced();
    const rows = callers.map((caller) => [keyOf(caller.queue), keyOf(caller.scope), caller.turn]);
    const columns = [0, 1, 2].map((n) => rows.map((row) => row[n]));
    if (rows.length > 0) await session.query(sql.callers, columns);
    await session.query(sql.forget, [keyOf(queue), forgottenTurns(turns)]);
  }

  const writer = {
    /** Whether the schema has a table of texts. */
    keepsTexts: false,
    tasks: tasksWritten,
    /** Throws `Raced` if a row has another revision than the one that was read. */
    async write(session: Session, collected: Collected): Promise<void> {
      const { tasks, webhooks, deletedTasks, deletedWebhooks, queue } = collected;
      if (tasks.length > 0) {
        const written = await session.queryPlanned(...tasksWritten(collected, { part: anyPart() }));
        if (written.length !== tasks.length) throw new Raced();
      }
      if (webhooks.length > 0) {
        const written = await session.query(sql.webhooks, valuesOf(webhookColumns, webhooks));
        if (written.length !== webhooks.length) throw new Raced();
      }
      if (deletedWebhooks.length > 0) {
        const keys = [0, 1].map((n) => deletedWebhooks.map((pair) => pair[n]));
        await session.query(sql.deleteWebhooks, keys);
      }
      if (deletedTasks.length > 0) {
        const counts = collected.counts(true);
        await session.query(taskDeletion, [deletedTasks, ...countsOf(counts), partOfDeletions]);
        await session.query(sql.tidy, [[...new Set(counts.map(({ key }) => key))]]);
      }
      const { records, deletedRecords } = collected;
      if (records.length > 0) {
        const written = await session.query(sql.records, valuesOf(recordColumns, records));
        if (written.length !== records.length) throw new Raced();
      }
      if (deletedRecords.length > 0) await session.query(sql.deleteRecords, [deletedRecords]);
      if (queue?.after) await writeQueue(session, queue.after, queue.before?.revision, collected.callers);
    },
  };
  return writer;
}

/** The values of the statement that writes tasks, apart from their rows and their texts. */
function logsOf(collected: Collected, part: number): unknown[] {
  const { facts, once, snapshots, rooms } = collected;
  return [
    ...[facts.map((one) => one.key), facts.map((one) => one.version)],
    ...[facts.map((one) => one.commitId), facts.map((one) => one.fact)],
    ...[once.map((one) => one.key), once.map((one) => one.onceKey), once.map((one) => one.version)],
    ...[
      snapshots.map((one) => one.key),
      snapshots.map((one) => one.version),
      snapshots.map((one) => one.json),
    ],
    ...countsOf(collected.counts(false)),
    part,
    collected.newRecords,
    collected.newTasks,
    ...[Array.from(rooms.keys(), waitingKey), Array.from(rooms.values(), ({ most }) => most)],
  ];
}

/** The keys of tasks, and the words of each: they have no spaces. */
const wordedTexts = (texts: Collected['texts']): string[][] => [
  texts.map((one) => one.key),
  texts.map(({ scope, text }) => [markOf(scope), ...wordsOf(text)].join(' ')),
];

const countsOf = (counts: ReturnType<Collected['counts']>): unknown[][] => [
  counts.map((one) => one.of),
  counts.map((one) => one.key),
  counts.map((one) => one.name),
  counts.map((one) => one.tasks),
];
