import type { DatabaseSync } from 'node:sqlite';
import type { Scope } from '@batonjs/store';

/** A row of the table `contexts`. */
export interface ContextRow {
  readonly id: number;
  /** How many tasks it has; logs that are no tasks are not counted. */
  readonly tasks: number;
}

/** The contexts of all scopes under short numbers, with how many tasks each has. */
export class Contexts {
  readonly #enter;
  readonly #leave;
  readonly #deleteUnused;
  readonly #find;

  constructor(db: DatabaseSync) {
    this.#enter = db.prepare(
      `INSERT INTO contexts (scope, context_id, tasks) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks RETURNING id`,
    );
    this.#leave = db.prepare('UPDATE contexts SET tasks = tasks - ? WHERE id = ?');
    this.#deleteUnused = db.prepare(
      'DELETE FROM contexts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM tasks WHERE context = ?)',
    );
    this.#find = db.prepare('SELECT id, tasks FROM contexts WHERE scope = ? AND context_id = ?');
  }

  /** Adds so many tasks (0: a log that is no task) to a context. Returns its number. */
  enter(scope: Scope, contextId: string, tasks: number): number {
    return (this.#enter.get(scope, contextId, tasks) as { id: number }).id;
  }

  /** Takes so many tasks out of a context again. */
  leave(context: number, tasks: number): void {
    if (tasks > 0) this.#leave.run(tasks, context);
  }

  deleteUnused(context: number): void {
    this.#deleteUnused.run(context, context);
  }

  find(scope: Scope, contextId: string): ContextRow | undefined {
    return this.#find.get(scope, contextId) as ContextRow | undefined;
  }
}
