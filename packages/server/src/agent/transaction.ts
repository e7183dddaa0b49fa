/** Names one transaction among all: a later attempt of the turn asks for the same one, with a larger `fence`. */
export interface TransactionKey {
  /** Agent, tenant and caller in one. */
  readonly scope: string;
  readonly taskId: string;
  /** Names the turn within the task, the same in all of its attempts. */
  readonly turn: string;
  readonly name: string;
  /** As `turn.fence`. */
  readonly fence: number;
}

/**
 * A database in which `turn.transaction` has its effects: `@batonjs/transactions` has those of drivers of PostgreSQL
 * and SQLite. `Tx` is what its driver calls a transaction.
 */
export interface TransactionDatabase<Tx> {
  /**
   * Commits the effects of `run` together with its result, which is JSON, unless a result is recorded for this key: it
   * resolves to that one then. Rejects, and commits nothing, where `run` rejects, and where a larger fence was here
   * with a transaction of the task. `signal`: of the turn; ends waiting for a database that does not answer.
   */
  once(key: TransactionKey, run: (tx: Tx) => Promise<unknown>, signal: AbortSignal): Promise<unknown>;
}
