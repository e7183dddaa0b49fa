import { randomUUID } from 'node:crypto';
import { StoreError } from '@batonjs/store';
import { KnownTasks, type Rows, type Step } from '@batonjs/store/adapter';
import type { RowPage } from '@batonjs/store/rules';
import { taskOfSql } from '@batonjs/store/sql';
import { GroupedChanges } from './changes/grouped-changes.ts';
import { Buckets, SingleChanges } from './changes/single-changes.ts';
import { Writer } from './changes/writer.ts';
import { readTaskColumns } from './database/columns.ts';
import type { Database } from './database/database.ts';
import { translated } from './database/postgres-error.ts';
import { type CreatedSchema, createSchema, freeze, stepsOf } from './database/schema.ts';
import { Transactions } from './database/transactions.ts';
import { Wakeups } from './notifications/wakeups.ts';
import { Logs } from './tables/logs.ts';
import { TaskList } from './tables/task-list.ts';

export interface PostgresRowsOptions {
  readonly schema: string;
  readonly notify: boolean;
  readonly textSearch: boolean;
  readonly onGroup: ((size: number) => void) | undefined;
}

/** The rows of a database, whose tables are created at the first call. */
export function postgresRows(
  database: Database,
  { schema, notify, textSearch, onGroup }: PostgresRowsOptions,
): Rows {
  const quoted = `"${schema.replaceAll('"', '""')}"`;
  const transactions = new Transactions(database, async () => void (await created()));
  const wakeups = new Wakeups({ database, transactions, schema, quoted, notify, secret: identity });
  const writer = new Writer(quoted, database, wakeups.isHeard);
  const known = new KnownTasks();
  const single = new SingleChanges({ schema: quoted, transactions, writer, wakeups, known });
  const grouped = new GroupedChanges({ schema: quoted, single, transactions, writer, known, onGroup });
  const buckets = new Buckets(quoted, transactions);
  const logs = new Logs(quoted, transactions);
  const tasks = new TaskList(quoted, transactions);
  let creating: Promise<CreatedSchema> | undefined;

  function created(): Promise<CreatedSchema> {
    creating ??= createSchema(database, { schema, quoted, textSearch }).then(
      (made) => {
        writer.keepsTexts = made.texts;
        return made;
      },
      (error: unknown) => {
        // The next call tries again.
        creating = undefined;
        throw translated(database.name, error);
      },
    );
    return creating;
  }

  async function identity(): Promise<string> {
    const rows = await transactions.query(`SELECT name, value FROM ${quoted}.meta`);
    const { identity, version } = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    if (!identity) throw new StoreError('UNUSABLE', `${database.name} has lost the identity of its tasks`);
    stepsOf(version, database, schema);
    return String(identity);
  }

  async function change<T>(step: Step<T>): Promise<T> {
    const { wanted, isMostlyIdle } = step;
    if (wanted.bucket !== undefined) return buckets.run(wanted.bucket, step);
    // Most claims find nothing, and then take no lock. Prunes are rare.
    if (isMostlyIdle && !wanted.ended) return single.runIfAny(step);
    return wanted.tasks ? grouped.run(step) : single.run(step);
  }

  return {
    system: 'postgresql',
    encode: JSON.stringify,
    change,
    read: (wanted) => single.look(wanted),
    log: (scope, taskId) => logs.log(scope, taskId),
    facts: (scope, taskId, after, limit) => logs.facts(scope, taskId, after, limit),
    page: (scope, search) => tasks.list(scope, search),
    every: (from, limit) => everyTask(quoted, transactions, from, limit),
    freeze: (ms) => freeze(quoted, transactions, ms),
    texts: {
      isOn: async () => (await created()).texts,
      page: (scope, search, prefixes) => tasks.list(scope, search, prefixes),
    },
    subscribe: async (topic, notifySubscriber) => {
      await created();
      return wakeups.subscribe(topic, notifySubscriber);
    },
    probe: () => probe(transactions, quoted),
    ping: async () => void (await transactions.query('SELECT 1')),
    identity,
    close: async () => {
      await buckets.close();
      await wakeups.close();
      await database.close();
    },
  };
}

/** Large enough to need a page of its own: the write fails if the disk is full. */
const size = 8 * 1024;

/** Checks that the database can be written, and leaves nothing behind. */
async function probe(transactions: Transactions, schema: string): Promise<void> {
  const id = randomUUID();
  await transactions.query(`INSERT INTO ${schema}.probes (id, content) VALUES ($1, $2)`, [
    id,
    ' '.repeat(size),
  ]);
  // Rows of processes that ended in between go as well.
  await transactions.query(`DELETE FROM ${schema}.probes`);
}

/** See `Rows.every`. */
async function everyTask(
  schema: string,
  transactions: Transactions,
  from = '',
  limit: number,
): Promise<RowPage> {
  const found = await transactions.query(
    `SELECT ${readTaskColumns} FROM ${schema}.tasks WHERE key > $1 ORDER BY key LIMIT $2`,
    [from, limit],
  );
  return { rows: found.map(taskOfSql), next: found.length < limit ? undefined : String(found.at(-1)?.key) };
}
