import type { Scope } from '@batonjs/store';
import type { Database } from '../sql/database.ts';

/** Counters of the logs of each scope and state. */
export class Totals {
  readonly #add;
  readonly #read;
  #pending = new Map<Scope, Map<string, number>>();

  constructor(db: Database) {
    this.#add = db.prepare(
      'INSERT INTO totals (scope, state, tasks) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks',
    );
    this.#read = db.prepare('SELECT state, tasks FROM totals WHERE scope = ? AND tasks > 0');
  }

  /** Notes that the present transaction adds (or removes) logs of this state. */
  add(scope: Scope, state: string, tasks: number): void {
    const states = this.#pending.get(scope) ?? new Map<string, number>();
    this.#pending.set(scope, states);
    states.set(state, (states.get(state) ?? 0) + tasks);
  }

  /** Writes the noted changes, once for the whole transaction. */
  beforeCommit(): void {
    for (const [scope, states] of this.#pending) {
      for (const [state, tasks] of states) if (tasks !== 0) this.#add.run(scope, state, tasks);
    }
    this.#pending = new Map();
  }

  afterRollback(): void {
    this.#pending = new Map();
  }

  /** The states that logs of this scope are in, and how many are in each. */
  read(scope: Scope): { readonly state: string; readonly tasks: number }[] {
    return this.#read.all(scope) as { state: string; tasks: number }[];
  }
}
