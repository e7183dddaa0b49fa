import type { DatabaseRow } from '../database/database.ts';
import type { Transactions } from '../database/transactions.ts';
import { TotalChanges, type Totals } from './totals.ts';

// The most that one transaction deletes, unless a single log has more facts: other writers run in between, and it must
// end in time.
const logsAtOnce = 50;
const factsAtOnce = 10_000;

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
    this.#find = (from, before, limit) => `SELECT key, scope_key, state, status_at, version
      FROM ${schema}.tasks AS t
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
      const most = Math.min(logsAtOnce, limit - deleted);
      if (most <= 0) return deleted;
      const some = await this.#some(Date.parse(closedBefore), most);
      deleted += some.deleted;
      if (some.isCut) continue;
      if (from === earliest) return deleted;
      // The search began late. Once more from the beginning, for older logs that can be deleted now.
      this.#from = earliest;
    }
  }

  /** `isCut`: more of them may follow. */
  async #some(closedBefore: number, limit: number): Promise<{ deleted: number; isCut: boolean }> {
    // The index keeps the entries of deleted logs until a VACUUM: a search from its beginning would read all of them.
    const find = this.#find(this.#from, closedBefore, limit);
    const { found, deleted } = await this.#transactions.run(
      async (session, _, [found = []]) => {
        const deleted = batchOf(found);
        if (deleted.length === 0) return { found, deleted };
        const changes = new TotalChanges();
        for (const { scope_key, state } of deleted) changes.add(String(scope_key), String(state), -1);
        const keys = deleted.map(({ key }) => key);
        await session.query(this.#delete, [keys, ...this.#totals.valuesOf(changes)]);
        return { found, deleted };
      },
      [find],
    );
    if (deleted.length > 0) this.#from = Number(deleted.at(-1)!.status_at);
    return { deleted: deleted.length, isCut: found.length === limit || deleted.length < found.length };
  }
}

/** The first log, and those after it while all of them together have few enough facts. */
function batchOf(logs: readonly DatabaseRow[]): readonly DatabaseRow[] {
  let facts = 0;
  const end = logs.findIndex(({ version }, n) => {
    facts += Number(version);
    return n > 0 && facts > factsAtOnce;
  });
  return end === -1 ? logs : logs.slice(0, end);
}
