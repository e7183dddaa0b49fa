import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type ListedTask, parseFact, type Scope, type TaskPage, type TaskQuery } from '@batonjs/store';
import type { Contexts } from './contexts.ts';
import type { Totals } from './totals.ts';

/** The tasks that a list is of: those of a scope or of a context, as a column, its value and its exact totals. */
interface Shelf {
  readonly column: 'scope' | 'context';
  readonly value: string | number;
}

interface ListedRow {
  readonly task_id: string;
  readonly head: string;
  readonly version: number;
  readonly commit_id: string;
  readonly fact: string;
}

/**
 * Lists tasks by merging an ordered scan of the index for each state. A page costs the same however many tasks exist,
 * and logs that are not tasks are never visited.
 */
export class TaskList {
  readonly #db: DatabaseSync;
  readonly #totals: Totals;
  readonly #contexts: Contexts;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync, totals: Totals, contexts: Contexts) {
    this.#db = db;
    this.#totals = totals;
    this.#contexts = contexts;
  }

  list(scope: Scope, query: TaskQuery): TaskPage {
    const { contextId, state, answered } = query;
    const states = this.#totals
      .read(scope)
      .filter((one) => (one.state !== '' || answered) && (state === undefined || one.state === state));
    if (states.length === 0) return { tasks: [], total: 0 };
    const names = states.map((one) => one.state);
    const context = contextId === undefined ? undefined : this.#contexts.find(scope, contextId);
    if (contextId !== undefined && !context) return { tasks: [], total: 0 };
    const shelf: Shelf = context
      ? { column: 'context', value: context.id }
      : { column: 'scope', value: scope };
    const page = this.#page(shelf, names, query);
    return { ...page, total: this.#total(shelf, states, query, context?.tasks) };
  }

  #page(
    { column, value }: Shelf,
    states: readonly string[],
    { after, statusSince, limit, bytes = Number.POSITIVE_INFINITY }: TaskQuery,
  ): Pick<TaskPage, 'tasks' | 'isCut'> {
    const conditions = [
      `${column} = ? AND state = ?`,
      statusSince !== undefined && 'status_at >= ?',
      after && '(status_at, task_id) < (?, ?)',
    ];
    const walk = `SELECT id, task_id, status_at, head FROM tasks WHERE ${conditions.filter(Boolean).join(' AND ')}`;
    const order = 'ORDER BY status_at DESC, task_id DESC';
    const sql = `SELECT found.task_id, found.head, facts.version, facts.commit_id, facts.fact
      FROM (${states.map(() => walk).join(' UNION ALL ')} ${order} LIMIT ?) AS found
      JOIN facts ON facts.task = found.id AND facts.version = found.head ->> 'statusVersion'
      ${order}`;
    const values = states.flatMap((state): SQLInputValue[] => [
      value,
      state,
      ...(statusSince === undefined ? [] : [Date.parse(statusSince)]),
      ...(after ? [Date.parse(after.statusAt), after.taskId] : []),
    ]);
    const tasks: ListedTask[] = [];
    let left = bytes;
    for (const found of this.#prepare(sql).iterate(...values, limit)) {
      const row = found as unknown as ListedRow;
      left -= row.fact.length;
      if (left < 0 && tasks.length > 0) return { tasks, isCut: true };
      tasks.push({ taskId: row.task_id, head: JSON.parse(row.head), fact: factOf(row) });
    }
    return { tasks };
  }

  /** The total from a counter if there is one; otherwise counted on an index. */
  #total(
    { column, value }: Shelf,
    states: readonly { state: string; tasks: number }[],
    { state, statusSince, answered, totalAtMost = -1 }: TaskQuery,
    ofContext: number | undefined,
  ): number {
    if (statusSince === undefined) {
      if (ofContext === undefined) return states.reduce((total, { tasks }) => total + tasks, 0);
      if (state === undefined && !answered) return ofContext;
    }
    const since = statusSince === undefined ? '' : 'AND status_at >= ?';
    const count = this.#prepare(
      `SELECT count(*) AS tasks FROM
        (SELECT 1 FROM tasks WHERE ${column} = ? AND state = ? ${since} LIMIT ?)`,
    );
    const from = statusSince === undefined ? [] : [Date.parse(statusSince)];
    return states.reduce(
      (total, one) => total + (count.get(value, one.state, ...from, totalAtMost) as { tasks: number }).tasks,
      0,
    );
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The fact, or undefined if it is damaged: the rest of the page can still be read. */
function factOf({ version, commit_id, fact }: ListedRow): ListedTask['fact'] {
  try {
    return { version, commitId: commit_id, fact: parseFact(fact, version) };
  } catch {
    return undefined;
  }
}
