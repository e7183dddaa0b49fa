import type { Scope } from '@batonjs/store';
import type { Database } from '../sql/database.ts';

/** A row of the table `contexts`. */
export interface ContextRow {
  readonly id: number;
  /** How many tasks it has, without logs that are not tasks. */
  readonly tasks: number;
}

/** Numbers the contexts of all scopes and counts their tasks. */
export class Contexts {
  readonly #enter;
  readonly #leave;
  readonly #deleteUnused;
  readonly #find;

  constructor(db: Database) {
    this.#enter = db.prepare(
      `INSERT INTO contexts (scope, context_id, tasks) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks RETURNING id`,
    );
    this.#leave = db.prepare('UPDATE contexts SET tasks = tasks - ? WHERE id = ?');
    this.#deleteUnused = db.prepare(
      'DELETE FROM contexts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM tasks WHERE context = ? AND state IS NOT NULL)',
    );
    this.#find = db.prepare('SELECT id, tasks FROM contexts WHERE scope = ? AND context_id = ?');
  }

  /** Adds `tasks` tasks (0 for a log that is not a task) to a context. Returns the number of the context. */
  enter(scope: Scope, contextId: string, tasks: number): number {
    return Number(this.#enter.get(scope, contextId, tasks)?.id);
  }

  /** Removes `tasks` tasks from a context. */
  leave(context: number, tasks: number): void {
    this.#leave.run(tasks, context);
  }

  /** Deletes the context of a task that has left it, which may have been in none. */
  deleteUnused(context: number | null): void {
    this.#deleteUnused.run(context, context);
  }

  find(scope: Scope, contextId: string): ContextRow | undefined {
    const found = this.#find.get(scope, contextId);
    return found && { id: Number(found.id), tasks: Number(found.tasks) };
  }
}
