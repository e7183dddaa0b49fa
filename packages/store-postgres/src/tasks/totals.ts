/** How many rows count the logs of one scope and state: processes that write at once do not wait for one row. */
const parts = 16;

/** The row that prunes count in, which no commit waits for. */
export const partOfPrunes = parts;

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
  readonly #part: number;

  /** `part`: the row to count in. Default: one that few processes share. */
  constructor(schema: string, part: number = Math.floor(Math.random() * parts)) {
    this.#schema = schema;
    this.#part = part;
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
}
