import { DatabaseClock } from '@batonjs/store/adapter';
import type { Database, DatabaseRow, Looked, Work } from './database.ts';
import { isTransient, translated } from './postgres-error.ts';

/** How often a transaction is run again that others made fail. */
const mostAttempts = 12;

/** Runs statements and transactions, again where others made them fail, and translates their errors. */
export class Transactions {
  /** As its answers tell it. */
  readonly clock = new DatabaseClock();
  readonly #database: Database;
  readonly #ready: () => Promise<void>;

  /** `ready`: resolves once the tables are there; called before everything. */
  constructor(database: Database, ready: () => Promise<void>) {
    this.#database = database;
    this.#ready = ready;
  }

  /** One statement in a transaction of its own. */
  query(text: string, values?: readonly unknown[]): Promise<DatabaseRow[]> {
    return this.#again(() => this.#database.query(text, values));
  }

  /** The rows of each statement, in one round trip, and the database's clock after them. Statements have no values. */
  look(statements: readonly string[]): Promise<Looked> {
    return this.#again(async () => {
      const asked = this.clock.asked();
      const looked = await this.#database.look(statements);
      this.clock.answered(asked, looked.now);
      return looked;
    });
  }

  /** One statement that writes, in a transaction of its own. Its rows tell the database's clock as `now`. */
  write(name: string, text: string, values: readonly unknown[]): Promise<DatabaseRow[]> {
    return this.#again(async () => {
      const asked = this.clock.asked();
      const rows = await this.#database.write(name, text, values);
      if (rows[0]) this.clock.answered(asked, Number(rows[0].now));
      return rows;
    });
  }

  /** Rejects with a `StoreError`, of code `UNAVAILABLE` if the database failed. */
  async run<T>(work: Work<T>, opening?: readonly string[]): Promise<T> {
    return this.#again(() => {
      const asked = this.clock.asked();
      return this.#database.transact((session, now, opened) => {
        this.clock.answered(asked, now);
        return work(session, now, opened);
      }, opening);
    });
  }

  async #again<T>(attempt: () => Promise<T>): Promise<T> {
    await this.#ready();
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!isTransient(error) || attempts === mostAttempts) throw translated(this.#database.name, error);
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 2 ** attempts)));
    }
  }
}
