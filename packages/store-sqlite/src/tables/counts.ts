import type { Scope } from '@batonjs/store';
import type { Database } from '../sql/database.ts';

/** No task has this scope: the counts of queues stand under it. */
const queues = '';
/** The counts of a queue beside those that wait begin with this. Names of queues are printable. */
const countsPrefix = (queue: string): string => `${queue}\u001fcounts\u001f`;

export type Counts = ReturnType<typeof countsOf>;

/** Counts the logs of each scope and state, and the tasks that wait in each queue. */
export function countsOf(db: Database) {
  let pending = new Map<Scope, Map<string, number>>();
  const untidy = new Set<Scope>();
  const sql = {
    add: db.prepare(
      'INSERT INTO counts (scope, name, tasks) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks',
    ),
    read: db.prepare('SELECT name AS state, tasks FROM counts WHERE scope = ? AND tasks > 0'),
    readFrom: db.prepare(
      'SELECT name, tasks FROM counts WHERE scope = ? AND name >= ? AND name < ? AND tasks > 0',
    ),
    deleteNothing: db.prepare('DELETE FROM counts WHERE scope = ? AND tasks = 0'),
    readOne: db.prepare('SELECT tasks FROM counts WHERE scope = ? AND name = ?'),
  };

  /** Notes that the present transaction adds (or removes) logs of this state. */
  function add(scope: Scope, state: string, tasks: number): void {
    const states = pending.get(scope) ?? new Map<string, number>();
    pending.set(scope, states);
    states.set(state, (states.get(state) ?? 0) + tasks);
  }

  return {
    add,
    /** The present transaction deletes a task of this scope: rows that count nothing then would stay forever. */
    tidy: (scope: Scope): void => void untidy.add(scope),
    addWaiting: (queue: string, tasks: number): void => void add(queues, queue, tasks),
    addCount: (queue: string, name: string, tasks: number): void =>
      void add(queues, `${countsPrefix(queue)}${name}`, tasks),
    /** Writes the noted changes, once for the whole transaction. */
    beforeCommit(): void {
      for (const [scope, states] of pending)
        for (const [state, tasks] of states) if (tasks !== 0) sql.add.run(scope, state, tasks);
      pending = new Map();
      if (untidy.size === 0) return;
      for (const scope of untidy) sql.deleteNothing.run(scope);
      untidy.clear();
    },
    afterRollback(): void {
      pending = new Map();
      untidy.clear();
    },
    /** The states that logs of this scope are in, and how many are in each. */
    states: (scope: Scope): { readonly state: string; readonly tasks: number }[] =>
      sql.read.all(scope).map(({ state, tasks }) => ({ state: String(state), tasks: Number(tasks) })),
    /** How many tasks of a queue ask or are postponed, by `countedAs`. */
    of(queue: string): Record<string, number> {
      const first = countsPrefix(queue);
      const found = sql.readFrom.all(queues, first, `${first}\u{10ffff}`);
      return Object.fromEntries(
        found.map(({ name, tasks }) => [String(name).slice(first.length), Number(tasks)]),
      );
    },
    /** How many tasks of a queue wait, with those that the present transaction has added. */
    waiting(queue: string): number {
      const kept = Number(sql.readOne.get(queues, queue)?.tasks ?? 0);
      return kept + (pending.get(queues)?.get(queue) ?? 0);
    },
  };
}
