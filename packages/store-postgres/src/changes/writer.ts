import { changedRow, rememberedTurns, wordsOf } from '@batonjs/store';
import { recordColumns, taskColumns, upsert, valuesOf, webhookColumns } from '../database/columns.ts';
import type { Session } from '../database/database.ts';
import { keyOf, markOf } from '../database/keys.ts';
import { Raced } from '../database/postgres-error.ts';
import type { Collected } from './collected.ts';

/** How many rows count the same: processes that write at once do not wait for one row. */
const parts = 16;

/** The part that deletions count in, which no commit waits for. */
const partOfDeletions = parts;

/** A statement, and the name of its plan: connections may be shared by stores on several schemas. */
interface Planned {
  readonly plan: string;
  readonly text: string;
}

const planned = (text: string): Planned => ({ plan: `baton_${keyOf(text)}`, text });

/** Writes what the changes of a transaction come to. */
export class Writer {
  /** Whether the schema has a table of texts. */
  keepsTexts = false;
  readonly #tasks: Planned;
  readonly #tasksWithTexts: Planned;
  readonly #webhooks: string;
  readonly #deleteWebhooks: string;
  readonly #records: string;
  readonly #deleteRecords: string;
  readonly #delete: string;
  readonly #queue: string;
  readonly #callers: string;
  readonly #forget: string;
  readonly #part = Math.floor(Math.random() * parts);

  constructor(schema: string) {
    const tasks = upsert(`${schema}.tasks`, 'key', taskColumns);
    const at = (n: number) => `$${tasks.count + 1 + n}`;
    const counts = (keys: string, names: string, tasks: string, part: string) =>
      `INSERT INTO ${schema}.counts AS c (key, name, part, tasks)
      SELECT u.key, u.name, ${part}::smallint, u.tasks
      FROM unnest(${keys}::text[], ${names}::text[], ${tasks}::bigint[]) AS u (key, name, tasks)
      ON CONFLICT (key, name, part) DO UPDATE SET tasks = c.tasks + excluded.tasks`;
    // One statement: each costs a round trip.
    const statement = (more: string) => `WITH written AS (${tasks.statement(1)}),
      facts AS (
        INSERT INTO ${schema}.facts (key, version, commit_id, fact)
        SELECT * FROM unnest(${at(0)}::text[], ${at(1)}::bigint[], ${at(2)}::text[], ${at(3)}::text[])
      ),
      once AS (
        INSERT INTO ${schema}.once_keys (key, once_key, version)
        SELECT * FROM unnest(${at(4)}::text[], ${at(5)}::text[], ${at(6)}::bigint[])
      ),
      snapshots AS (
        INSERT INTO ${schema}.snapshots (key, version, snapshot)
        SELECT * FROM unnest(${at(7)}::text[], ${at(8)}::bigint[], ${at(9)}::text[])
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, snapshot = excluded.snapshot
      ),
      ${more}
      counts AS (${counts(at(10), at(11), at(12), at(13))})
      SELECT count(*) AS written FROM written`;
    this.#tasks = planned(statement(''));
    this.#tasksWithTexts = planned(
      statement(`texts AS (
        INSERT INTO ${schema}.task_texts (key, words)
        SELECT u.key, array_to_tsvector(string_to_array(u.words, ' '))
        FROM unnest(${at(14)}::text[], ${at(15)}::text[]) AS u (key, words)
      ),`),
    );
    this.#webhooks = upsert(`${schema}.webhooks`, 'key, config_key', webhookColumns).statement(1);
    this.#deleteWebhooks = `DELETE FROM ${schema}.webhooks
      WHERE (key, config_key) IN (SELECT * FROM unnest($1::text[], $2::text[]))`;
    this.#records = upsert(`${schema}.records`, 'name', recordColumns).statement(1);
    this.#deleteRecords = `DELETE FROM ${schema}.records WHERE name = ANY($1::text[])`;
    const deletions = ['facts', 'snapshots', 'once_keys', 'webhooks'].map(
      (table) => `${table} AS (DELETE FROM ${schema}.${table} WHERE key = ANY($1::text[]))`,
    );
    this.#delete = `WITH ${deletions}, counts AS (${counts('$2', '$3', '$4', '$5')})
      DELETE FROM ${schema}.tasks WHERE key = ANY($1::text[])`;
    this.#queue = `INSERT INTO ${schema}.queues AS q (queue_key, queue, revision, replaced, turns)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (queue_key) DO UPDATE
      SET revision = excluded.revision, replaced = excluded.replaced, turns = excluded.turns
      WHERE q.revision = excluded.replaced RETURNING queue_key`;
    this.#callers = `INSERT INTO ${schema}.callers (queue_key, scope_key, turn)
      SELECT * FROM unnest($1::text[], $2::text[], $3::float8[])
      ON CONFLICT (queue_key, scope_key) DO UPDATE SET turn = excluded.turn`;
    this.#forget = `DELETE FROM ${schema}.callers WHERE queue_key = $1 AND turn <= $2`;
  }

  /** Throws `Raced` if a row has another revision than the one that was read. */
  async write(session: Session, collected: Collected): Promise<void> {
    const { tasks, webhooks, deletedTasks, deletedWebhooks, queues } = collected;
    if (tasks.length > 0) {
      const texts = this.keepsTexts && collected.texts.length > 0 ? wordedTexts(collected.texts) : undefined;
      const { plan, text } = texts ? this.#tasksWithTexts : this.#tasks;
      const values = [...valuesOf(taskColumns, tasks), ...this.#logsOf(collected), ...(texts ?? [])];
      const [done] = await session.queryPlanned(plan, text, values);
      if (Number(done?.written) !== tasks.length) throw new Raced();
    }
    if (webhooks.length > 0) {
      const written = await session.query(this.#webhooks, valuesOf(webhookColumns, webhooks));
      if (written.length !== webhooks.length) throw new Raced();
    }
    if (deletedWebhooks.length > 0) {
      const keys = [0, 1].map((n) => deletedWebhooks.map((pair) => pair[n]));
      await session.query(this.#deleteWebhooks, keys);
    }
    if (deletedTasks.length > 0) {
      // What was written has been counted above.
      const counts = tasks.length > 0 ? [] : collected.counts;
      await session.query(this.#delete, [deletedTasks, ...countsOf(counts), partOfDeletions]);
    }
    const { records, deletedRecords } = collected;
    if (records.length > 0) {
      const written = await session.query(this.#records, valuesOf(recordColumns, records));
      if (written.length !== records.length) throw new Raced();
    }
    if (deletedRecords.length > 0) await session.query(this.#deleteRecords, [deletedRecords]);
    if (queues.length > 0) await this.#writeQueues(session, collected);
  }

  #logsOf({ facts, once, snapshots, counts }: Collected): unknown[] {
    const kept = [...snapshots.values()];
    return [
      ...[facts.map((one) => one.key), facts.map((one) => one.version)],
      ...[facts.map((one) => one.commitId), facts.map((one) => one.fact)],
      ...[once.map((one) => one.key), once.map((one) => one.onceKey), once.map((one) => one.version)],
      ...[[...snapshots.keys()], kept.map((one) => one.version), kept.map((one) => one.json)],
      ...countsOf(counts),
      this.#part,
    ];
  }

  async #writeQueues(session: Session, { queues, callers }: Collected): Promise<void> {
    for (const change of queues) {
      const { queue, revision, turns } = changedRow(change);
      const values = [keyOf(queue), queue, revision, change.before?.revision ?? null, turns];
      if ((await session.query(this.#queue, values)).length === 0) throw new Raced();
      await session.query(this.#forget, [keyOf(queue), turns - rememberedTurns]);
    }
    if (callers.length === 0) return;
    const rows = callers.map(({ queue, scope, turn }) => [keyOf(queue), keyOf(scope), turn]);
    await session.query(
      this.#callers,
      [0, 1, 2].map((n) => rows.map((row) => row[n])),
    );
  }
}

/** The keys of tasks, and the words of each: they have no spaces. */
const wordedTexts = (texts: Collected['texts']): string[][] => [
  texts.map((one) => one.key),
  texts.map(({ scope, text }) => [markOf(scope), ...wordsOf(text)].join(' ')),
];

const countsOf = (counts: Collected['counts']): unknown[][] => [
  counts.map((one) => one.key),
  counts.map((one) => one.name),
  counts.map((one) => one.tasks),
];
