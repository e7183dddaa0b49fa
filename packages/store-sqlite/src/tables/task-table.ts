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

/** Rows of the table `tasks`, with what counts them. Called inside the caller's transaction. */
export class TaskTable {
  readonly #counted: Counted;
  readonly #find;
  readonly #every;
  readonly #insert;
  readonly #updates;
  readonly #deletions;

  constructor(db: Database, counted: Counted) {
    this.#counted = counted;
    this.#find = db.prepare(`SELECT ${readColumns} FROM tasks WHERE task_id = ? AND scope = ?`);
    this.#every = db.prepare(`SELECT ${readColumns} FROM tasks WHERE id > ? ORDER BY id LIMIT ?`);
    const all = ['scope', 'task_id', 'context', ...logNames, ...listNames, ...turnNames];
    this.#insert = db.prepare(
      `INSERT INTO tasks (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')}) RETURNING id`,
    );
    const update = (...names: string[]) =>
      db.prepare(`UPDATE tasks SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`);
    // Setting a column updates every index over it, even if the value stays the same.
    this.#updates = {
      log: update(...logNames),
      list: update(...logNames, 'context', ...listNames),
      turn: update(...logNames, ...turnNames),
      both: update(...logNames, 'context', ...listNames, ...turnNames),
    };
    this.#deletions = ['facts', 'pieces', 'snapshots', 'once_keys', 'webhooks', 'terms'].map((table) =>
      db.prepare(`DELETE FROM ${table} WHERE task = ?`),
    );
    this.#deletions.push(db.prepare('DELETE FROM tasks WHERE id = ?'));
  }

  find(name: TaskName): KeptTask | undefined {
    const known = this.#counted.known?.find(name);
    if (known) return known;
    const found = this.#find.get(name.taskId, name.scope);
    return found && toTask(found);
  }

  /** See `Rows.every`. */
  every(from = '0', limit: number): RowPage {
    const rows = this.#every.all(Number(from), limit).map(toTask);
    return { rows, next: rows.length < limit ? undefined : String(rows.at(-1)?.id) };
  }

  /** The number of a task that has a row. */
  numberOf({ scope, taskId }: TaskName): number {
    return Number(this.#find.get(taskId, scope)?.id);
  }

  /** Inserts a row, or replaces the one before. Returns the number of the task. */
  put(before: KeptTask | undefined, after: TaskRow): number {
    this.#count(before, after);
    const context = this.#contextOf(before, after);
    if (!before) {
      const values = [logColumns, listColumns, turnColumns].flatMap((columns) => valuesOf(columns, after));
      const id = Number(this.#insert.get(after.scope, after.taskId, context, ...values)?.id);
      this.#counted.terms.put(id, undefined, after);
      this.#counted.known?.note({ ...after, id, context });
      return id;
    }
    this.#update(before, after, context);
    this.#counted.terms.put(before.id, before, after);
    this.#counted.known?.note({ ...after, id: before.id, context });
    if (before.context !== context) this.#counted.contexts.deleteUnused(before.context);
    return before.id;
  }

  /** Deletes everything of a task. */
  delete(before: KeptTask): void {
    this.#count(before, undefined);
    this.#counted.counts.tidy(before.scope);
    this.#counted.known?.forget(before);
    for (const deletion of this.#deletions) deletion.run(before.id);
    this.#counted.contexts.deleteUnused(before.context);
  }

  #update(before: KeptTask, after: TaskRow, context: number | null): void {
    const { id } = before;
    const log = valuesOf(logColumns, after);
    const isListedAlike = context === before.context && areAlike(listColumns, before, after);
    const isTurnSame = areAlike(turnColumns, before, after);
    if (isListedAlike && isTurnSame) {
      this.#updates.log.run(...log, id);
      return;
    }
    const list = isListedAlike ? [] : [context, ...valuesOf(listColumns, after)];
    const turn = isTurnSame ? [] : valuesOf(turnColumns, after);
    const update = isListedAlike ? this.#updates.turn : isTurnSame ? this.#updates.list : this.#updates.both;
    update.run(...log, ...list, ...turn, id);
  }

  /** Leaves one context for another, or stays. */
  #contextOf(before: KeptTask | undefined, { scope, head }: TaskRow): number | null {
    if (!head) return null;
    const was = before?.head;
    const [wasTask, isTask] = [was?.state !== undefined, head.state !== undefined];
    if (before && was?.contextId === head.contextId && wasTask === isTask) return before.context;
    return this.#counted.contexts.enter(scope, head.contextId, isTask ? 1 : 0);
  }

  #count(before: KeptTask | undefined, after: TaskRow | undefined): void {
    if (
      waitsIn(before) !== waitsIn(after) ||
      countedState(before) !== countedState(after) ||
      (countedAs(before) ?? countedAs(after)) !== undefined
    ) {
      if (before) this.#add(before, -1);
      if (after) this.#add(after, 1);
    }
    this.#leave(before, after);
  }

  #add(row: TaskRow, tasks: 1 | -1): void {
    const [queue, state] = [waitsIn(row), countedState(row)];
    if (queue !== undefined) this.#counted.counts.addWaiting(queue, tasks);
    if (state !== undefined) this.#counted.counts.add(row.scope, state, tasks);
    const name = countedAs(row);
    if (name !== undefined && row.queue !== undefined) this.#counted.counts.addCount(row.queue, name, tasks);
  }

  /** Counts the task in its context no more, if it leaves it. */
  #leave(before: KeptTask | undefined, after: TaskRow | undefined): void {
    if (before?.context == null || !before.head) return;
    const { contextId, state } = before.head;
    if (after?.head?.contextId !== contextId)
      this.#counted.contexts.leave(before.context, state === undefined ? 0 : 1);
  }
}

const [logNames, listNames, turnNames] = [namesOf(logColumns), namesOf(listColumns), namesOf(turnColumns)];

/** The queue in which a task waits for a turn. */
const waitsIn = (row: TaskRow | undefined): string | undefined =>
  row?.waitingSince === undefined ? undefined : row.queue;

/** The state that a log is counted under. */
const countedState = (row: TaskRow | undefined): string | undefined => row?.head && stateOf(row);

/** More tasks than this are many: how many more does not matter. */
const many = 1_000;

/** Where tasks with terms are listed, by each of them: the table `terms`, in the order of lists. */
export class Terms {
  readonly #leave;
  readonly #enter;
  readonly #count;

  constructor(db: Database) {
    this.#leave = db.prepare('DELETE FROM terms WHERE task = ?');
    this.#enter = db.prepare(
      'INSERT INTO terms (scope, term, state, status_at, task_id, task) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#count = db.prepare(
      'SELECT count(*) AS tasks FROM (SELECT 1 FROM terms WHERE scope = ? AND term = ? LIMIT ?)',
    );
  }

  /** Lists a task where it stands now. */
  put(task: number, before: TaskRow | undefined, { scope, taskId, head }: TaskRow): void {
    const [was, is] = [termsOf(before?.head), termsOf(head)];
    if (was.length + is.length === 0 || !head || isListedAlike(before?.head, head)) return;
    if (was.length > 0) this.#leave.run(task);
    for (const term of is)
      this.#enter.run(scope, term, head.state ?? '', Date.parse(head.statusAt), taskId, task);
  }

  /** The terms, those with the fewest tasks first. */
  rarestFirst(scope: Scope, terms: readonly string[]): readonly string[] {
    if (terms.length < 2) return terms;
    const counted = terms.map((term) => ({ term, tasks: Number(this.#count.get(scope, term, many)?.tasks) }));
    return counted.sort((one, other) => one.tasks - other.tasks).map(({ term }) => term);
  }
}

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
