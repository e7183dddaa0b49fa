import type { Commit, Row, StoredFact } from '@batonjs/store';

/** One task. Rows, facts and snapshots are replaced, never changed. */
export interface Log {
  readonly scope: string;
  readonly taskId: string;
  row: Row;
  /** The row by which it is placed in lists, if it is: perhaps an earlier one. */
  placed?: Row;
  readonly facts: StoredFact[];
  snapshot?: NonNullable<Commit['snapshot']>;
  /** The `once` keys that were used, with the position of the first fact of their commits. */
  once?: Map<string, number>;
}

/** Logs by scope and task id. */
export class Logs {
  readonly #scopes = new Map<string, Map<string, Log>>();

  get(scope: string, taskId: string): Log | undefined {
    return this.#scopes.get(scope)?.get(taskId);
  }

  add(log: Log): void {
    const scope = this.#scopes.get(log.scope) ?? new Map<string, Log>();
    this.#scopes.set(log.scope, scope.set(log.taskId, log));
  }

  delete({ scope, taskId }: Log): void {
    const logs = this.#scopes.get(scope);
    logs?.delete(taskId);
    if (logs?.size === 0) this.#scopes.delete(scope);
  }
}
