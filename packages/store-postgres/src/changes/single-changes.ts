import {
  type Change,
  changedRow,
  type Found,
  Group,
  type Grouped,
  type KnownTasks,
  type Step,
  type Wanted,
} from '@batonjs/store/adapter';
import { changeOf, isIdle } from '@batonjs/store/rules';
import type { SqlColumn } from '@batonjs/store/sql';
import { upsert, valuesOf } from '../database/columns.ts';
import { clock, keyOf, momentAt, type Session } from '../database/database.ts';
import { isAboutValues, type Transactions } from '../database/postgres-error.ts';
import type { Wakeups } from '../notifications/wakeups.ts';
import { foundBy, searchesOf, statementsOf } from '../tables/searches.ts';
import { Collected } from './collected.ts';
import type { Writer } from './writer.ts';

export interface SingleChangesOptions {
  readonly schema: string;
  readonly transactions: Transactions;
  readonly writer: Writer;
  readonly wakeups: Wakeups;
  readonly known: KnownTasks;
}

export type SingleChanges = ReturnType<typeof singleChanges>;

/** Looks without locks, and changes in a transaction or a statement each. */
export function singleChanges({ schema, transactions, writer, wakeups, known }: SingleChangesOptions) {
  /**
   * No log that can be deleted ended before this time, as far as is known. The index keeps the entries of deleted logs until a
   * VACUUM: a search from its beginning would read all of them.
   */
  let endedFrom: number | undefined;

  /** Finds the rows that are wanted, in one round trip. `now`: the moment to search at; without it, the database's clock. */
  async function look(wanted: Wanted, now?: number): Promise<Found> {
    const searches = searchesOf(schema, wanted, 'look', { now, endedFrom });
    const looked = await transactions.look(statementsOf(searches));
    return { ...momentAt(now ?? looked.now), ...foundBy(searches, looked.rows) };
  }

  /** A change that mostly writes nothing: looks without locks first. Resolves once it is committed. */
  async function runIfAny<T>(step: Step<T>): Promise<T> {
    const found = await look(step.wanted);
    let change = step.decide(found);
    while ('decide' in change) change = change.decide(await look(change.wanted, found.now));
    if (isIdle(change)) return change.result;
    // One task needs no lock: it is compared with what was found. Of several, others may have written some.
    const isOfOne = change.tasks?.length === 1 && !change.queue && !change.webhooks && !change.records;
    if (isOfOne) {
      const collected = new Collected();
      collected.add(change);
      if ((await write(collected, [change])).has(change)) return change.result;
    }
    return run(step);
  }

  /**
   * Writes changes of tasks alone in one statement. Resolves to those whose tasks were as they were found: of the others
   * nothing is written, and nothing of any if one has what the database does not take.
   */
  async function write(
    collected: Collected,
    changes: readonly Change<unknown>[],
  ): Promise<ReadonlySet<Change<unknown>>> {
    const mayBeLost = changes.every((change) => change.mayBeLost);
    const rows = await transactions
      .write(...writer.tasks(collected, { mayBeLost }))
      .catch((error: unknown) => {
        if (error instanceof Error && isAboutValues(error.cause)) return [];
        throw error;
      });
    const keys = new Set(rows.map(({ key }) => key));
    const isWritten = ({ tasks = [] }: Change<unknown>) =>
      tasks.every((task) => {
        const { scope, taskId } = changedRow(task);
        return keys.has(keyOf(scope, taskId));
      });
    const written = changes.filter(isWritten);
    wrote(written, rows[0]?.is_heard === true);
    return new Set(written);
  }

  /** Resolves once the transaction is committed. */
  async function run<T>(step: Step<T>): Promise<T> {
    const first = searchesOf(schema, step.wanted, 'lock', { endedFrom });
    const change = await transactions.run(async (session, now, opened) => {
      const moment = momentAt(now);
      let decision = step.decide({ ...moment, ...foundBy(first, opened) });
      while ('decide' in decision)
        decision = decision.decide({ ...moment, ...(await find(session, decision.wanted, now)) });
      const collected = new Collected();
      collected.add(decision);
      await writer.write(session, collected);
      return decision;
    }, statementsOf(first));
    wrote([change]);
    if (!step.wanted.ended) return change.result;
    const began = endedFrom;
    endedFrom = change.tasks?.at(-1)?.before?.endedAt;
    // The search began late. Once more from the beginning, for older logs that can be deleted now.
    return began !== undefined && endedFrom === undefined ? run(step) : change.result;
  }

  /** What was written is known, and subscribers are told. `mayBeHeard`: false if no other process listened. */
  function wrote(changes: readonly Change<unknown>[], mayBeHeard?: boolean): void {
    for (const change of changes) known.wrote(change);
    wakeups.announce(
      changes.flatMap(({ notify = [] }) => notify),
      mayBeHeard,
    );
  }

  async function find(session: Session, wanted: Wanted, now: number): Promise<Partial<Found>> {
    const searches = searchesOf(schema, wanted, 'lock', { now, endedFrom });
    const rows = [];
    for (const statement of statementsOf(searches)) rows.push(await session.query(statement));
    return foundBy(searches, rows);
  }

  return { look, runIfAny, write, run, wrote };
}

/** After how many takes of this process full buckets are deleted. */
const sweepEvery = 1_000;

/** The most full buckets that one sweep deletes. */
const sweepAtMost = 10_000;

/** The most takes of one round trip. */
const mostTakes = 256;

type Take = Grouped<{ readonly step: Step<unknown>; readonly key: string }>;

/** When a bucket is full: as it was read, and as it will be. */
interface Bucket {
  readonly key: string;
  readonly before: number | undefined;
  after: number | undefined;
}

const columns: readonly SqlColumn<Bucket>[] = [
  ['key', 'text', ({ key }) => key],
  ['full_at', 'number', ({ after }) => after],
  ['replaced', 'number?', ({ before }) => before],
];

/**
 * The buckets that all processes on a schema share. Takes that arrive while others are under way share a look and a
 * statement; those whose bucket another process wrote in between are decided again.
 */
export function bucketsOf(schema: string, transactions: Transactions) {
  const table = `${schema}.buckets`;
  const put = upsert(table, 'key', columns, 'full_at').statement(1);
  const sweep = `DELETE FROM ${table} WHERE key IN (
    SELECT key FROM ${table} WHERE full_at <= ${clock} LIMIT ${sweepAtMost} FOR UPDATE SKIP LOCKED)`;
  const group = new Group<Take['item']>({ most: mostTakes, run: take });
  let taken = 0;
  let sweeping: Promise<unknown> | undefined;

  /** Returns the takes whose bucket another process wrote in between. */
  async function take(takes: readonly Take[]): Promise<Take[]> {
    taken += takes.length;
    if (taken >= sweepEvery) beginSweep();
    const keys = new Set(takes.map(({ item }) => item.key));
    const find = `SELECT key, full_at FROM ${table} WHERE key = ANY('{${[...keys]}}'::text[])`;
    const { now, rows } = await transactions.look([find]);
    const [found = []] = rows;
    const known = new Map(found.map(({ key, full_at }) => [String(key), Number(full_at)]));
    const buckets = new Map<string, Bucket>();
    const results = takes.map(({ item: { step, key } }) => {
      const before = known.get(key);
      const bucket = buckets.get(key) ?? { key, before, after: before };
      buckets.set(key, bucket);
      const { fullAt, result } = changeOf(step, { ...momentAt(now), fullAt: bucket.after });
      bucket.after = fullAt ?? bucket.after;
      return result;
    });
    // In the order of their keys, so that processes do not wait for each other in a circle.
    const changed = [...buckets.values()]
      .filter(({ before, after }) => after !== before)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const raced = new Set(changed.map(({ key }) => key));
    if (changed.length > 0)
      for (const { key } of await transactions.query(put, valuesOf(columns, changed)))
        raced.delete(String(key));
    for (const [n, { item, resolve }] of takes.entries()) if (!raced.has(item.key)) resolve(results[n]);
    return takes.filter(({ item }) => raced.has(item.key));
  }

  /** In the background, one at a time. If it fails, a later one deletes what it left. */
  function beginSweep(): void {
    taken = 0;
    sweeping ??= transactions
      .query(sweep)
      .catch(() => {})
      .finally(() => {
        sweeping = undefined;
      });
  }

  return {
    run: <T>(bucket: string, step: Step<T>) => group.run({ step, key: keyOf(bucket) }) as Promise<T>,
    /** Resolves once no sweep runs any more. */
    close: async (): Promise<void> => void (await sweeping),
  };
}
