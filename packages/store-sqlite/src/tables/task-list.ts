import type { ListedTask, Scope, TaskPage } from '@batonjs/store';
import { type ListSearch, parseFact } from '@batonjs/store/adapter';
import { listedFact, wordsOf } from '@batonjs/store/sql';
import type { Database, SqlValue, Statement } from '../sql/database.ts';
import type { LongTexts } from '../sql/long-texts.ts';
import type { Counts } from './counts.ts';
import type { Contexts, Terms } from './task-table.ts';

/** What a search reads beside tasks. */
interface Searched {
  readonly counts: Counts;
  readonly contexts: Contexts;
  readonly terms: Terms;
  readonly longTexts: LongTexts;
  readonly texts: Texts;
}

type Condition = readonly [condition: string, ...values: SqlValue[]];

/** Where a search walks in the order of lists: along the tasks of a scope, of a context or of a term, or all with a text. */
interface Walk {
  /** What its statements begin with. */
  readonly first: Condition;
  readonly from: string;
  /** The table whose columns `state`, `status_at` and `task_id` are walked along. */
  readonly table: 'tasks' | 'terms';
  /** What belongs to that walk. */
  readonly place: readonly Condition[];
  /** What else a task must have. */
  readonly filter: readonly Condition[];
}

const hasTerm = (term: string): Condition => [
  'EXISTS (SELECT 1 FROM terms AS one WHERE one.task = tasks.id AND one.term = ?)',
  term,
];

/** How many tasks with a text are looked at: those that began last. */
const mostMatches = 10_000;

/** The tasks with a text, by their numbers. They have no order of lists, so that all of them are sorted. */
const matched = 'WITH matched (id) AS MATERIALIZED (SELECT value FROM json_each(?)) ';

/** What a search walks by. */
interface Sought {
  readonly context: number | undefined;
  readonly terms: readonly string[];
  readonly since: string | undefined;
  /** The numbers of the tasks with the words, as JSON. */
  readonly text: string | undefined;
}

/**
 * A context has few tasks, so a search in one walks along it. Others walk along the tasks with the text, else along their
 * first term.
 */
function walkOf(scope: Scope, { text, ...sought }: Sought): Walk {
  const first: Condition = text === undefined ? [''] : [matched, text];
  const walk = walkBy(scope, sought, text !== undefined);
  if (text === undefined) return { ...walk, first };
  return sought.context === undefined
    ? { ...walk, first, from: 'matched CROSS JOIN tasks ON tasks.id = matched.id' }
    : { ...walk, first, filter: [...walk.filter, ['tasks.id IN matched']] };
}

function walkBy(
  scope: Scope,
  { context, terms, since }: Omit<Sought, 'text'>,
  byText: boolean,
): Omit<Walk, 'first'> {
  const [first, ...others] = terms;
  const byTerm = context === undefined && first !== undefined && !byText;
  const table = byTerm ? 'terms' : 'tasks';
  const filter: readonly Condition[] = [
    ...(since === undefined ? [] : [[`${table}.status_at >= ?`, Date.parse(since)] as const]),
    ...(byTerm ? others : terms).map(hasTerm),
  ];
  if (byTerm) {
    const from = 'terms CROSS JOIN tasks ON tasks.id = terms.task';
    return { from, table, place: [['terms.scope = ? AND terms.term = ?', scope, first]], filter };
  }
  const place: Condition =
    context === undefined ? ['tasks.scope = ?', scope] : ['tasks.context = ?', context];
  return { from: 'tasks', table, place: [place], filter };
}

const textOf = (conditions: readonly Condition[]): string => conditions.map(([text]) => text).join(' AND ');
const valuesOf = (conditions: readonly Condition[]): SqlValue[] =>
  conditions.flatMap(([, ...values]) => values);

/** The states that are walked along together: each alone in the order of lists, and all of the tasks with a text. */
const walksOf = ({ first }: Walk, states: readonly string[]): readonly (readonly string[])[] =>
  first.length > 1 ? [states] : states.map((state) => [state]);

const isOneOf = (states: readonly string[]): string => `state IN (${states.map(() => '?')})`;

/** How many statements a compound SELECT may have in Durable Objects. SQLite itself allows 500. */
const mostInCompound = 5;

/**
 * Lists tasks by merging an ordered scan of the index for each state. A page costs the same however many tasks exist,
 * and logs that are not tasks are never visited.
 */
export function taskListOf(db: Database, searched: Searched) {
  const statements = new Map<string, Statement>();

  function readPage(
    search: Walk,
    states: readonly string[],
    { after, limit, bytes = Number.POSITIVE_INFINITY }: Pick<ListSearch, 'after' | 'limit' | 'bytes'>,
  ): Pick<TaskPage, 'tasks' | 'isCut'> {
    const { first, from, table, place, filter } = search;
    const rest: readonly Condition[] = after
      ? [
          ...filter,
          [`(${table}.status_at, ${table}.task_id) < (?, ?)`, Date.parse(after.statusAt), after.taskId],
        ]
      : filter;
    const walk = (some: readonly string[]) =>
      `SELECT tasks.id, ${table}.task_id AS task_id, ${table}.status_at AS status_at, head
      FROM ${from} WHERE ${textOf([...place, [`${table}.${isOneOf(some)}`], ...rest])}`;
    const order = 'ORDER BY status_at DESC, task_id DESC';
    const merge = (parts: readonly string[]) => `${parts.join(' UNION ALL ')} ${order} LIMIT ?`;
    const walks = walksOf(search, states);
    const groups = Array.from({ length: Math.ceil(walks.length / mostInCompound) }, (_, n) =>
      walks.slice(n * mostInCompound, (n + 1) * mostInCompound),
    );
    const merged = groups.map((group) => merge(group.map(walk)));
    const all = merged.length === 1 ? merged[0] : merge(merged.map((one) => `SELECT * FROM (${one})`));
    const sql = `${first[0]}SELECT found.task_id, found.head, facts.task, facts.version, facts.commit_id, facts.fact
      FROM (${all}) AS found
      LEFT JOIN facts ON facts.task = found.id AND facts.version = found.head ->> 'statusVersion'
      ${order}`;
    const values = groups.flatMap((group) => [
      ...group.flatMap((some) => [...valuesOf(place), ...some, ...valuesOf(rest)]),
      limit,
    ]);
    values.unshift(...valuesOf([first]));
    if (groups.length > 1) values.push(limit);
    const tasks: ListedTask[] = [];
    let left = bytes;
    for (const found of prepare(sql).iterate(...values)) {
      const version = Number(found.version);
      // A log that lacks the fact is damaged.
      const text =
        found.fact === null ? '' : searched.longTexts.read(Number(found.task), version, String(found.fact));
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
  function total(
    walk: Walk,
    states: readonly { state: string; tasks: number }[],
    { state, answered, totalAtMost = -1 }: ListSearch,
    ofContext: number | undefined,
  ): number {
    const { first, from, table, place, filter } = walk;
    if (filter.length === 0 && table === 'tasks' && first.length === 1) {
      if (ofContext === undefined) return states.reduce((total, { tasks }) => total + tasks, 0);
      if (state === undefined && !answered) return ofContext;
    }
    const names = states.map((one) => one.state);
    return walksOf(walk, names).reduce((total, some) => {
      const where = textOf([...place, [`${table}.${isOneOf(some)}`], ...filter]);
      const count = prepare(
        `${first[0]}SELECT count(*) AS tasks FROM (SELECT 1 FROM ${from} WHERE ${where} LIMIT ?)`,
      );
      const values = [...valuesOf([first, ...place]), ...some, ...valuesOf(filter), totalAtMost];
      return total + Number(count.get(...values)?.tasks);
    }, 0);
  }

  function prepare(sql: string): Statement {
    const statement = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, statement);
    return statement;
  }

  return {
    /** `prefixes`: only tasks whose text has words with all of these. */
    list(scope: Scope, search: ListSearch, prefixes?: readonly string[]): TaskPage {
      const { contextId, state, statusSince, answered, terms, limit, bytes, after, totalAtMost, ...others } =
        search;
      others satisfies Record<string, never>;
      const { counts, contexts, terms: ofTerms, texts } = searched;
      const states = counts
        .states(scope)
        .filter((one) => (one.state !== '' || answered) && (state === undefined || one.state === state));
      if (states.length === 0) return { tasks: [], total: 0 };
      const names = states.map((one) => one.state);
      const context = contextId === undefined ? undefined : contexts.find(scope, contextId);
      if (contextId !== undefined && !context) return { tasks: [], total: 0 };
      const walk = walkOf(scope, {
        context: context?.id,
        terms: ofTerms.rarestFirst(scope, terms),
        since: statusSince,
        text: prefixes && texts.matching(scope, prefixes),
      });
      const page = readPage(walk, names, { limit, bytes, after });
      return { ...page, total: total(walk, states, search, context?.tasks) };
    },
  };
}

export type Texts = ReturnType<typeof textsOf>;

/** So many words with one beginning are looked up one by one. */
const mostWords = 8;

/** The table `task_texts`, where there is one. Its rows are deleted by a trigger. */
export function textsOf(db: Database) {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'task_texts'");
  /** Whether the database had the table when it was opened. */
  const areKept: boolean = table.get() !== undefined;
  if (areKept)
    db.prepare('CREATE VIRTUAL TABLE temp.task_words USING fts5vocab(main, task_texts, row)').run();
  const prepared = (sql: string) => (areKept ? db.prepare(sql) : undefined);
  const insert = prepared('INSERT INTO task_texts (rowid, words) VALUES (?, ?)');
  const match = prepared(
    `SELECT rowid AS id FROM task_texts WHERE task_texts MATCH ? ORDER BY rowid DESC LIMIT ${mostMatches}`,
  );
  const words = prepared(
    `SELECT term FROM temp.task_words WHERE term >= ? AND term < ? LIMIT ${mostWords + 1}`,
  );

  /** An index reads all tasks with a beginning of words, and of a word only those that have the others, too. */
  function wordsWith(prefix: string): string {
    const found = [...words!.all(prefix, `${prefix}\u{10ffff}`)].map(({ term }) => `"${term}"`);
    return found.length > mostWords || found.length === 0 ? `"${prefix}"*` : `(${found.join(' OR ')})`;
  }

  return {
    /** Keeps the words of a new task. Called inside the caller's transaction. */
    keep(task: number, scope: Scope, text: string): void {
      if (!insert) return;
      const words = wordsOf(text);
      if (words.length > 0) insert.run(task, [markOf(scope), ...words].join(' '));
    },
    /** Tasks of a scope, and perhaps of others with its mark, that have words with these prefixes: their numbers, as JSON. */
    matching(scope: Scope, prefixes: readonly string[]): string {
      const expression = [`"${markOf(scope)}"`, ...prefixes.map(wordsWith)].join(' AND ');
      return JSON.stringify([...match!.iterate(expression)].map(({ id }) => Number(id)));
    },
    areKept,
  };
}

/** Lets the index look at one scope first: two scopes rarely have the same. */
function markOf(scope: Scope): string {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < scope.length; at++) hash = Math.imul(hash ^ scope.charCodeAt(at), 0x01_00_01_93);
  return `=${(hash >>> 0).toString(36)}`;
}
