import type { Commit, Row, StoredFact } from '@batonjs/store';

/** All that is kept of one task. Rows, facts and snapshots are replaced, never changed. */
export interface Log {
  readonly scope: string;
  readonly taskId: string;
  row: Row;
  /** The row by which it stands in lists, if it does: an earlier one perhaps. */
  placed?: Row;
  readonly facts: StoredFact[];
  snapshot?: NonNullable<Commit['snapshot']>;
  /** Keys of commits that count once, with the position of their first fact. */
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
