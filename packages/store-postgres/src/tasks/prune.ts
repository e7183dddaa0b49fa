import type { Transactions } from '../database/transactions.ts';
import { TotalChanges, type Totals } from './totals.ts';

/** How many logs one transaction deletes: other writers run in between. */
const atOnce = 50;

/** A time before all others. */
const earliest = Number.MIN_SAFE_INTEGER;

/** Deletes old logs. */
export class Prune {
  readonly #transactions: Transactions;
  readonly #totals: Totals;
  readonly #find: (from: number, before: number, limit: number) => string;
  readonly #delete: string;
  /** No log that can be deleted has an older status, as far as is known: in milliseconds since 1970. */
  #from = earliest;

  /** `totals`: of a part that no commit of this process counts in, so that none waits for a prune. */
  constructor(schema: string, transactions: Transactions, totals: Totals) {
    this.#transactions = transactions;
    this.#totals = totals;
    this.#find = (from, before, limit) => `SELECT key, scope_key, state, status_at FROM ${schema}.tasks AS t
      WHERE closed AND status_at >= ${from} AND status_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM ${schema}.push_configs AS p WHERE p.key = t.key AND p.dead IS NULL AND p.cursor < t.version
      ) ORDER BY status_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
    // One statement: each costs a round trip, and a plan.
    const deletions = ['facts', 'snapshots', 'once_keys', 'push_configs'].map(
      (table) => `${table} AS (DELETE FROM ${schema}.${table} WHERE key = ANY($1::text[]))`,
    );
    this.#delete = `WITH ${deletions.join(', ')}, totals AS (${totals.statement(2)})
      DELETE FROM ${schema}.tasks WHERE key = ANY($1::text[])`;
  }

  /** Resolves to the number of deleted logs. */
  async delete(closedBefore: string, limit: number): Promise<number> {
    for (let deleted = 0; ; ) {
      const from = this.#from;
      const most = Math.min(atOnce, limit - deleted);
      if (most <= 0) return deleted;
      const some = await this.#some(Date.parse(closedBefore), most);
      deleted += some;
      if (some === most) continue;
      if (from === earliest) return deleted;
      // The search began late. Once more from the beginning, for older logs that can be deleted now.
      this.#from = earliest;
    }
  }

  async #some(closedBefore: number, limit: number): Promise<number> {
    // The index keeps the entries of deleted logs until a VACUUM: a search from its beginning would read all of them.
    const find = this.#find(this.#from, closedBefore, limit);
    const deleted = await this.#transactions.run(
      async (session, _, [found = []]) => {
        if (found.length === 0) return found;
        const changes = new TotalChanges();
        for (const { scope_key, state } of found) changes.add(String(scope_key), String(state), -1);
        await session.query(this.#delete, [found.map(({ key }) => key), ...this.#totals.valuesOf(changes)]);
        return found;
      },
      [find],
    );
    if (deleted.length > 0) this.#from = Number(deleted.at(-1)!.status_at);
    return deleted.length;
  }
}
