import type { Session } from '../database/database.ts';

/** How many rows count the logs of one scope and state: processes that write at once do not wait for one row. */
const parts = 16;

/** Changes of the counters that one transaction makes. */
export class TotalChanges {
  readonly #changes = new Map<string, { scopeKey: string; state: string; tasks: number }>();

  /** Notes that the transaction adds (or removes) logs of this state. */
  add(scopeKey: string, state: string, tasks: number): void {
    const name = `${scopeKey} ${state}`;
    const change = this.#changes.get(name);
    if (change) change.tasks += tasks;
    else this.#changes.set(name, { scopeKey, state, tasks });
  }

  /** In the order of their keys, in which all transactions lock them. */
  get all() {
    const names = [...this.#changes.keys()].sort();
    return names.map((name) => this.#changes.get(name)!).filter(({ tasks }) => tasks !== 0);
  }
}

/** Counters of the logs of each scope and state. */
export class Totals {
  readonly #schema: string;
  readonly #write: string;
  readonly #part = Math.floor(Math.random() * parts);

  constructor(schema: string) {
    this.#schema = schema;
    this.#write = this.statement(1);
  }

  /** The statement that writes changes, with the values `$first` and following. */
  statement(first: number): string {
    const [scopes, states, tasks, part] = [0, 1, 2, 3].map((n) => `$${first + n}`);
    return `INSERT INTO ${this.#schema}.totals AS t (scope_key, state, part, tasks)
      SELECT u.scope_key, u.state, ${part}::smallint, u.tasks
      FROM unnest(${scopes}::text[], ${states}::text[], ${tasks}::bigint[]) AS u(scope_key, state, tasks)
      ON CONFLICT (scope_key, state, part) DO UPDATE SET tasks = t.tasks + excluded.tasks`;
  }

  valuesOf({ all }: TotalChanges): unknown[] {
    const columns = [
      all.map((one) => one.scopeKey),
      all.map((one) => one.state),
      all.map((one) => one.tasks),
    ];
    return [...columns, this.#part];
  }

  /** The last statement before the commit: others wait for these rows. */
  async write(session: Session, changes: TotalChanges): Promise<void> {
    if (changes.all.length > 0) await session.query(this.#write, this.valuesOf(changes));
  }
}
