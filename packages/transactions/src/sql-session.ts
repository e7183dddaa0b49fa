import { sleep } from '@batonjs/protocol/timing';
import type { Dialect, SqlDriver, SqlValue } from './sql-driver.ts';
import { isBusy } from './tables/is-busy.ts';
import { creatingTables } from './tables/schema.ts';

/** A row of a result, by the names of its columns. */
type SqlRow = Readonly<Record<string, unknown>>;

/** Creating a table twice at once fails in PostgreSQL, `if not exists` or not. */
const lock = 'select pg_advisory_xact_lock(7310425961082)::text as locked';

/** How long a transaction of SQLite waits for those of other processes, in milliseconds. */
const longestWaitMs = 10_000;

/** The statements of this package in transactions of one database. */
export class SqlSession<Tx> {
  readonly #driver: SqlDriver<Tx>;
  #hasTables = false;

  constructor(driver: SqlDriver<Tx>) {
    this.#driver = driver;
  }

  get dialect(): Dialect {
    return this.#driver.dialect;
  }

  /**
   * Begins a transaction that has the tables. Waits for a file that another process writes, without blocking this one,
   * whatever the timeout of the connection is.
   */
  async transaction<T>(run: (tx: Tx) => Promise<T>): Promise<T> {
    for (const until = performance.now() + longestWaitMs; ; ) {
      let isEntered = false;
      try {
        return await this.#driver.transaction(async (tx) => {
          await this.ensureTables(tx);
          isEntered = true;
          return await run(tx);
        });
      } catch (error) {
        if (isEntered || !isBusy(error) || performance.now() > until) throw error;
      }
      await sleep(5 + Math.random() * 20);
    }
  }

  /** Runs a statement whose values stand as `$1`, `$2` … in their order, each of them once. */
  async query(tx: Tx, statement: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const text = this.dialect === 'postgres' ? statement : statement.replace(/\$\d+/g, '?');
    return (await this.#driver.query(tx, text, values)).map(Object);
  }

  /** Creates the tables in this transaction if they are missing. */
  async ensureTables(tx: Tx): Promise<void> {
    if (this.#hasTables) return;
    if (await (this.dialect === 'postgres' ? this.#findTables(tx) : this.#lockTables(tx))) return;
    if (this.dialect === 'postgres') await this.query(tx, lock);
    for (const statement of creatingTables(this.dialect)) await this.query(tx, statement);
  }

  /** A transaction that created them may be rolled back: only tables that were there before are relied upon. */
  async #findTables(tx: Tx): Promise<boolean> {
    const found = await this.query(
      tx,
      "select 1 as found where to_regclass('baton_submissions') is not null",
    );
    this.#hasTables = found.length > 0;
    return this.#hasTables;
  }

  /** SQLite refuses a transaction that first reads and then writes, if another one wrote in between. */
  async #lockTables(tx: Tx): Promise<boolean> {
    try {
      await this.query(tx, 'delete from baton_submissions where false');
      return true;
    } catch (error) {
      if (!/no such table/.test(String(error))) throw error;
      return false;
    }
  }
}
