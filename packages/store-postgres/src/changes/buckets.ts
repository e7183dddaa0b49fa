import { Group, type Grouped, type Step } from '@batonjs/store/adapter';
import { changeOf } from '@batonjs/store/rules';
import type { SqlColumn } from '@batonjs/store/sql';
import { upsert, valuesOf } from '../database/columns.ts';
import { clock, momentAt } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';

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
export class Buckets {
  readonly #transactions: Transactions;
  readonly #find: (keys: Iterable<string>) => string;
  readonly #put: string;
  readonly #sweep: string;
  readonly #group = new Group<Take['item']>({ most: mostTakes, run: (takes) => this.#take(takes) });
  #takes = 0;
  #sweeping: Promise<unknown> | undefined;

  constructor(schema: string, transactions: Transactions) {
    this.#transactions = transactions;
    const table = `${schema}.buckets`;
    this.#find = (keys) => `SELECT key, full_at FROM ${table} WHERE key = ANY('{${[...keys]}}'::text[])`;
    this.#put = upsert(table, 'key', columns, 'full_at').statement(1);
    this.#sweep = `DELETE FROM ${table} WHERE key IN (
      SELECT key FROM ${table} WHERE full_at <= ${clock} LIMIT ${sweepAtMost} FOR UPDATE SKIP LOCKED)`;
  }

  run<T>(bucket: string, step: Step<T>): Promise<T> {
    return this.#group.run({ step, key: keyOf(bucket) }) as Promise<T>;
  }

  /** Resolves once no sweep runs any more. */
  async close(): Promise<void> {
    await this.#sweeping;
  }

  /** Returns the takes whose bucket another process wrote in between. */
  async #take(takes: readonly Take[]): Promise<Take[]> {
    this.#takes += takes.length;
    if (this.#takes >= sweepEvery) this.#beginSweep();
    const keys = new Set(takes.map(({ item }) => item.key));
    const { now, rows } = await this.#transactions.look([this.#find(keys)]);
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
      for (const { key } of await this.#transactions.query(this.#put, valuesOf(columns, changed)))
        raced.delete(String(key));
    for (const [n, { item, resolve }] of takes.entries()) if (!raced.has(item.key)) resolve(results[n]);
    return takes.filter(({ item }) => raced.has(item.key));
  }

  /** In the background, one at a time. If it fails, a later one deletes what it left. */
  #beginSweep(): void {
    this.#takes = 0;
    this.#sweeping ??= this.#transactions
      .query(this.#sweep)
      .catch(() => {})
      .finally(() => {
        this.#sweeping = undefined;
      });
  }
}
