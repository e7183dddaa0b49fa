import { diverged, parseFact, type Scope, type StoredFact, type StoredLog, StoreError } from '@batonjs/store';
import { keyOf } from '../database/keys.ts';
import type { Transactions } from '../database/transactions.ts';

/** The most facts of one statement: a long log is read in parts, so that it does not block the event loop. */
const atOnce = 1_000;

/** Reads logs. */
export class Facts {
  readonly #transactions: Transactions;
  readonly #log: string;
  readonly #facts: string;

  constructor(schema: string, transactions: Transactions) {
    this.#transactions = transactions;
    this.#log = `SELECT t.head, t.version, s.version AS snapshot_version, s.snapshot
      FROM ${schema}.tasks AS t LEFT JOIN ${schema}.snapshots AS s ON s.key = t.key WHERE t.key = $1`;
    this.#facts = `SELECT version, commit_id, fact FROM ${schema}.facts
      WHERE key = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4`;
  }

  async load(scope: Scope, taskId: string): Promise<StoredLog | undefined> {
    const key = keyOf(scope, taskId);
    const [row] = await this.#transactions.query(this.#log, [key]);
    if (!row) return undefined;
    const version = Number(row.version);
    const start = row.snapshot === null ? 0 : Number(row.snapshot_version);
    // Facts never change: all up to this version existed when the row was read.
    const facts = await this.#read(key, start, version);
    // The log was deleted meanwhile.
    if (facts.length < version - start) return undefined;
    const snapshot = row.snapshot === null ? {} : { snapshot: JSON.parse(String(row.snapshot)) };
    return { head: JSON.parse(String(row.head)), version, facts, ...snapshot };
  }

  async read(
    scope: Scope,
    taskId: string,
    after: number,
    limit: number,
    lastCommitId?: string,
  ): Promise<StoredFact[]> {
    const isKnown = lastCommitId !== undefined;
    const facts = await this.#read(keyOf(scope, taskId), isKnown ? after - 1 : after, after + limit);
    if (isKnown) {
      const last = facts[0]?.version === after ? facts.shift() : undefined;
      if (last?.commitId !== lastCommitId) throw diverged(taskId, after);
    }
    if (facts.some(({ version }, n) => version !== after + n + 1)) {
      throw new StoreError('LOG_GAP', `The facts of task ${taskId} after ${after} are not kept any more`);
    }
    return facts;
  }

  async #read(key: string, after: number, last: number): Promise<StoredFact[]> {
    const facts: StoredFact[] = [];
    for (let end = after; end < last; ) {
      const rows = await this.#transactions.query(this.#facts, [key, end, last, atOnce]);
      for (const { version, commit_id, fact } of rows) {
        end = Number(version);
        facts.push({ version: end, commitId: String(commit_id), fact: parseFact(String(fact), end) });
      }
      if (rows.length < atOnce) break;
    }
    return facts;
  }
}
