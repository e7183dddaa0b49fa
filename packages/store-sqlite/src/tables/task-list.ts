import {
  type ListedTask,
  listedFact,
  parseFact,
  type Scope,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
} from '@batonjs/store';
import type { Database, SqlValue, Statement } from '../sql/database.ts';
import type { LongTexts } from '../sql/long-texts.ts';
import type { Contexts } from './contexts.ts';
import type { Counts } from './counts.ts';

/** Which tasks a list holds, those of a scope or those of a context: a column of `tasks` and its value. */
interface ListedBy {
  readonly column: 'scope' | 'context';
  readonly value: string | number;
}

type Conditions = {
  readonly [Name in keyof TaskFilter]-?: (
    wanted: NonNullable<TaskFilter[Name]>,
  ) => readonly [condition: string, value: SqlValue] | undefined;
};

/** What each member of a filter adds to a search. Some choose the index instead, or the part of it. */
const conditions: Conditions = {
  contextId: () => undefined,
  state: () => undefined,
  answered: () => undefined,
  statusSince: (since) => ['status_at >= ?', Date.parse(since)],
};

/** The conditions of a filter. */
const conditionsOf = (filter: TaskFilter) =>
  (Object.keys(conditions) as (keyof TaskFilter)[]).flatMap((name) => {
    const wanted = filter[name];
    const condition = wanted === undefined ? undefined : conditions[name](wanted as never);
    return condition ? [condition] : [];
  });

/** How many statements a compound SELECT may have in Durable Objects. SQLite itself allows 500. */
const mostInCompound = 5;

/**
 * Lists tasks by merging an ordered scan of the index for each state. A page costs the same however many tasks exist,
 * and logs that are not tasks are never visited.
 */
export class TaskList {
  readonly #db: Database;
  readonly #counts: Counts;
  readonly #contexts: Contexts;
  readonly #texts: LongTexts;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database, counts: Counts, contexts: Contexts, texts: LongTexts) {
    this.#db = db;
    this.#counts = counts;
    this.#contexts = contexts;
    this.#texts = texts;
  }

  list(scope: Scope, query: TaskQuery): TaskPage {
    const { contextId, state, answered } = query;
    const states = this.#counts
      .states(scope)
      .filter((one) => (one.state !== '' || answered) && (state === undefined || one.state === state));
    if (states.length === 0) return { tasks: [], total: 0 };
    const names = states.map((one) => one.state);
    const context = contextId === undefined ? undefined : this.#contexts.find(scope, contextId);
    if (contextId !== undefined && !context) return { tasks: [], total: 0 };
    const listedBy: ListedBy = context
      ? { column: 'context', value: context.id }
      : { column: 'scope', value: scope };
    const page = this.#page(listedBy, names, query);
    return { ...page, total: this.#total(listedBy, states, query, context?.tasks) };
  }

  #page(
    { column, value }: ListedBy,
    states: readonly string[],
    query: TaskQuery,
  ): Pick<TaskPage, 'tasks' | 'isCut'> {
    const { after, limit, bytes = Number.POSITIVE_INFINITY } = query;
    const filter = conditionsOf(query);
    const where = [
      `${column} = ? AND state = ?`,
      ...filter.map(([condition]) => condition),
      ...(after ? ['(status_at, task_id) < (?, ?)'] : []),
    ];
    const walk = `SELECT id, task_id, status_at, head FROM tasks WHERE ${where.join(' AND ')}`;
    const order = 'ORDER BY status_at DESC, task_id DESC';
    const merge = (parts: readonly string[]) => `${parts.join(' UNION ALL ')} ${order} LIMIT ?`;
    const groups = Array.from({ length: Math.ceil(states.length / mostInCompound) }, (_, n) =>
      states.slice(n * mostInCompound, (n + 1) * mostInCompound),
    );
    const merged = groups.map((group) => merge(group.map(() => walk)));
    const all = merged.length === 1 ? merged[0] : merge(merged.map((one) => `SELECT * FROM (${one})`));
    const sql = `SELECT found.task_id, found.head, facts.task, facts.version, facts.commit_id, facts.fact
      FROM (${all}) AS found
      LEFT JOIN facts ON facts.task = found.id AND facts.version = found.head ->> 'statusVersion'
      ${order}`;
    const valuesOf = (state: string): SqlValue[] => [
      value,
      state,
      ...filter.map(([, wanted]) => wanted),
      ...(after ? [Date.parse(after.statusAt), after.taskId] : []),
    ];
    const values = groups.flatMap((group) => [...group.flatMap(valuesOf), limit]);
    if (groups.length > 1) values.push(limit);
    const tasks: ListedTask[] = [];
    let left = bytes;
    for (const found of this.#prepare(sql).iterate(...values)) {
      const version = Number(found.version);
      // A log that lacks the fact is damaged.
      const text =
        found.fact === null ? '' : this.#texts.read(Number(found.task), version, String(found.fact));
      left -= text.length;
      if (left < 0 && tasks.length > 0) return { tasks, isCut: true };
      const fact = listedFact(() => {
        const commitId = String(found.commit_id);
        return { version, commitId, fact: parseFact(text, version) };
      });
      tasks.push({ taskId: String(found.task_id), head: JSON.parse(String(found.head)), fact });
    }
    return { tasks };
  }

  /** The total from a counter if there is one; otherwise counted on an index. */
  #total(
    { column, value }: ListedBy,
    states: readonly { state: string; tasks: number }[],
    query: TaskQuery,
    ofContext: number | undefined,
  ): number {
    const { state, answered, totalAtMost = -1 } = query;
    const filter = conditionsOf(query);
    if (filter.length === 0) {
      if (ofContext === undefined) return states.reduce((total, { tasks }) => total + tasks, 0);
      if (state === undefined && !answered) return ofContext;
    }
    const where = [`${column} = ? AND state = ?`, ...filter.map(([condition]) => condition)];
    const count = this.#prepare(
      `SELECT count(*) AS tasks FROM (SELECT 1 FROM tasks WHERE ${where.join(' AND ')} LIMIT ?)`,
    );
    const from = filter.map(([, wanted]) => wanted);
    return states.reduce(
      (total, one) => total + Number(count.get(value, one.state, ...from, totalAtMost)?.tasks),
      0,
    );
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
