import type { Transactions } from '../database/transactions.ts';
import { TotalChanges, type Totals } from './totals.ts';

/** How many logs one transaction deletes: other writers run in between. */
const atOnce = 50;

/** Deletes old logs. */
export class Prune {
  readonly #transactions: Transactions;
  readonly #totals: Totals;
  readonly #closed: string;
  readonly #deletions: readonly string[];

  constructor(schema: string, transactions: Transactions, totals: Totals) {
    this.#transactions = transactions;
    this.#totals = totals;
    this.#closed = `SELECT key, scope_key, state FROM ${schema}.tasks AS t
      WHERE closed AND status_at < $1 AND NOT EXISTS (
        SELECT 1 FROM ${schema}.push_configs AS p WHERE p.key = t.key AND p.dead IS NULL AND p.cursor < t.version
      ) ORDER BY status_at LIMIT $2 FOR UPDATE SKIP LOCKED`;
    this.#deletions = ['facts', 'snapshots', 'once_keys', 'push_configs', 'tasks'].map(
      (table) => `DELETE FROM ${schema}.${table} WHERE key = ANY($1::text[])`,
    );
  }

  /** Resolves to the number of deleted logs. */
  async delete(closedBefore: string, limit: number): Promise<number> {
    for (let deleted = 0; ; ) {
      const most = Math.min(atOnce, limit - deleted);
      const some = most > 0 ? await this.#some(Date.parse(closedBefore), most) : 0;
      deleted += some;
      if (some < atOnce) return deleted;
    }
  }

  #some(closedBefore: number, limit: number): Promise<number> {
    return this.#transactions.run(async (session) => {
      const found = await session.query(this.#closed, [closedBefore, limit]);
      if (found.length === 0) return 0;
      const changes = new TotalChanges();
      for (const { scope_key, state } of found) changes.add(String(scope_key), String(state), -1);
      for (const deletion of this.#deletions) await session.query(deletion, [found.map(({ key }) => key)]);
      await this.#totals.write(session, changes);
      return found.length;
    });
  }
}
