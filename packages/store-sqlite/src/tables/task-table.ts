import type { Scope, TaskName } from '@batonjs/store';
import type { TaskRow } from '@batonjs/store/adapter';
import { countedAs, isListedAlike, type RowPage, stateOf, termsOf } from '@batonjs/store/rules';
import {
  areAlike,
  type Database,
  type KeptTask,
  listColumns,
  logColumns,
  namesOf,
  readColumns,
  toTask,
  turnColumns,
  valuesOf,
} from '../sql/database.ts';
import type { KnownTasks } from '../sql/known-tasks.ts';
import type { Counts } from './counts.ts';

/** The other tables that know of a task. */
interface Counted {
  readonly counts: Counts;
  readonly contexts: Contexts;
  readonly terms: Terms;
  readonly known: KnownTasks | undefined;
}

export type TaskTable = ReturnType<typeof taskTable>;

/** Rows of the table `tasks`, with what counts them. Called inside the caller's transaction. */
export function taskTable(db: Database, counted: Counted) {
  const findStatement = db.prepare(`SELECT ${readColumns} FROM tasks WHERE task_id = ? AND scope = ?`);
  const everyStatement = db.prepare(`SELECT ${readColumns} FROM tasks WHERE id > ? ORDER BY id LIMIT ?`);
  const all = ['scope', 'task_id', 'context', ...logNames, ...listNames, ...turnNames];
  const insert = db.prepare(
    `INSERT INTO tasks (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) RETURNING id`,
  );
  const updateOf = (...names: string[]) =>
    db.prepare(`UPDATE tasks SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`);
  // Setting a column updates every index over it, even if the value stays the same.
  const updates = {
    log: updateOf(...logNames),
    list: updateOf(...logNames, 'context', ...listNames),
    turn: updateOf(...logNames, ...turnNames),
    both: updateOf(...logNames, 'context', ...listNames, ...turnNames),
  };
  const deletions = ['facts', 'pieces', 'snapshots', 'once_keys', 'webhooks', 'terms'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE task = ?`),
  );
  deletions.push(db.prepare('DELETE FROM tasks WHERE id = ?'));

  function update(before: KeptTask, after: TaskRow, context: number | null): void {
    const { id } = before;
    const log = valuesOf(logColumns, after);
    const isListedAlike = context === before.context && areAlike(listColumns, before, after);
    const isTurnSame = areAlike(turnColumns, before, after);
    if (isListedAlike && isTurnSame) {
      updates.log.run(...log, id);
      return;
    }
    const list = isListedAlike ? [] : [context, ...valuesOf(listColumns, after)];
    const turn = isTurnSame ? [] : valuesOf(turnColumns, after);
    const update = isListedAlike ? updates.turn : isTurnSame ? updates.list : updates.both;
    update.run(...log, ...list, ...turn, id);
  }

  /** Leaves one context for another, or stays. */
  function contextOf(before: KeptTask | undefined, { scope, head }: TaskRow): number | null {
    if (!head) return null;
    const was = before?.head;
    const [wasTask, isTask] = [was?.state !== undefined, head.state !== undefined];
    if (before && was?.contextId === head.contextId && wasTask === isTask) return before.context;
    return counted.contexts.enter(scope, head.contextId, isTask ? 1 : 0);
  }

  function count(before: KeptTask | undefined, after: TaskRow | undefined): void {
    if (
      waitsIn(before) !== waitsIn(after) ||
      countedState(before) !== countedState(after) ||
      (countedAs(before) ?? countedAs(after)) !== undefined
    ) {
      if (before) add(before, -1);
      if (after) add(after, 1);
    }
    leave(before, after);
  }

  function add(row: TaskRow, tasks: 1 | -1): void {
    const [queue, state] = [waitsIn(row), countedState(row)];
    if (queue !== undefined) counted.counts.addWaiting(queue, tasks);
    if (state !== undefined) counted.counts.add(row.scope, state, tasks);
    const name = countedAs(row);
    if (name !== undefined && row.queue !== undefined) counted.counts.addCount(row.queue, name, tasks);
  }

  /** Counts the task in its context no more, if it leaves it. */
  function leave(before: KeptTask | undefined, after: TaskRow | undefined): void {
    if (before?.context == null || !before.head) return;
    const { contextId, state } = before.head;
    if (after?.head?.contextId !== contextId)
      counted.contexts.leave(before.context, state === undefined ? 0 : 1);
  }

  return {
    find(name: TaskName): KeptTask | undefined {
      const known = counted.known?.find(name);
      if (known) return known;
      const found = findStatement.get(name.taskId, name.scope);
      return found && toTask(found);
    },
    /** See `Rows.every`. */
    every(from = '0', limit: number): RowPage {
      const rows = everyStatement.all(Number(from), limit).map(toTask);
      return { rows, next: rows.length < limit ? undefined : String(rows.at(-1)?.id) };
    },
    /** The number of a task that has a row. */
    numberOf: ({ scope, taskId }: TaskName): number => Number(findStatement.get(taskId, scope)?.id),
    /** Inserts a row, or replaces the one before. Returns the number of the task. */
    put(before: KeptTask | undefined, after: TaskRow): number {
      count(before, after);
      const context = contextOf(before, after);
      if (!before) {
        const values = [logColumns, listColumns, turnColumns].flatMap((columns) => valuesOf(columns, after));
        const id = Number(insert.get(after.scope, after.taskId, context, ...values)?.id);
        counted.terms.put(id, undefined, after);
        counted.known?.note({ ...after, id, context });
        return id;
      }
      update(before, after, context);
      counted.terms.put(before.id, before, after);
      counted.known?.note({ ...after, id: before.id, context });
      if (before.context !== context) counted.contexts.deleteUnused(before.context);
      return before.id;
    },
    /** Deletes everything of a task. */
    delete(before: KeptTask): void {
      count(before, undefined);
      counted.counts.tidy(before.scope);
      counted.known?.forget(before);
      for (const deletion of deletions) deletion.run(before.id);
      counted.contexts.deleteUnused(before.context);
    },
  };
}

const [logNames, listNames, turnNames] = [namesOf(logColumns), namesOf(listColumns), namesOf(turnColumns)];

/** The queue in which a task waits for a turn. */
const waitsIn = (row: TaskRow | undefined): string | undefined =>
  row?.waitingSince === undefined ? undefined : row.queue;

/** The state that a log is counted under. */
const countedState = (row: TaskRow | undefined): string | undefined => row?.head && stateOf(row);

/** More tasks than this are many: how many more does not matter. */
const many = 1_000;

export type Terms = ReturnType<typeof termTable>;

/** Where tasks with terms are listed, by each of them: the table `terms`, in the order of lists. */
export function termTable(db: Database) {
  const leave = db.prepare('DELETE FROM terms WHERE task = ?');
  const enter = db.prepare(
    'INSERT INTO terms (scope, term, state, status_at, task_id, task) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const count = db.prepare(
    'SELECT count(*) AS tasks FROM (SELECT 1 FROM terms WHERE scope = ? AND term = ? LIMIT ?)',
  );

  return {
    /** Lists a task where it stands now. */
    put(task: number, before: TaskRow | undefined, { scope, taskId, head }: TaskRow): void {
      const [was, is] = [termsOf(before?.head), termsOf(head)];
      if (was.length + is.length === 0 || !head || isListedAlike(before?.head, head)) return;
      if (was.length > 0) leave.run(task);
      for (const term of is)
        enter.run(scope, term, head.state ?? '', Date.parse(head.statusAt), taskId, task);
    },
    /** The terms, those with the fewest tasks first. */
    rarestFirst(scope: Scope, terms: readonly string[]): readonly string[] {
      if (terms.length < 2) return terms;
      const counted = terms.map((term) => ({ term, tasks: Number(count.get(scope, term, many)?.tasks) }));
      return counted.sort((one, other) => one.tasks - other.tasks).map(({ term }) => term);
    },
  };
}

export interface ContextRow {
  readonly id: number;
  /** How many tasks it has, without logs that are not tasks. */
  readonly tasks: number;
}

export type Contexts = ReturnType<typeof contextsOf>;

/** Numbers the contexts of all scopes and counts their tasks. */
export function contextsOf(db: Database) {
  const enterStatement = db.prepare(
    `INSERT INTO contexts (scope, context_id, tasks) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks RETURNING id`,
  );
  const leaveStatement = db.prepare('UPDATE contexts SET tasks = tasks - ? WHERE id = ?');
  const deletion = db.prepare(
    'DELETE FROM contexts WHERE id = ? AND NOT EXISTS (SELECT 1 FROM tasks WHERE context = ? AND state IS NOT NULL)',
  );
  const findStatement = db.prepare('SELECT id, tasks FROM contexts WHERE scope = ? AND context_id = ?');

  return {
    /** Adds `tasks` tasks (0 for a log that is not a task) to a context. Returns the number of the context. */
    enter: (scope: Scope, contextId: string, tasks: number): number =>
      Number(enterStatement.get(scope, contextId, tasks)?.id),
    /** Removes `tasks` tasks from a context. */
    leave: (context: number, tasks: number): void => void leaveStatement.run(tasks, context),
    /** Deletes the context of a task that has left it, which may have been in none. */
    deleteUnused: (context: number | null): void => void deletion.run(context, context),
    find(scope: Scope, contextId: string): ContextRow | undefined {
      const found = findStatement.get(scope, contextId);
      return found && { id: Number(found.id), tasks: Number(found.tasks) };
    },
  };
}
