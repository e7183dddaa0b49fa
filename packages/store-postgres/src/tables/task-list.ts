import type { ListedTask, Scope, TaskPage } from '@batonjs/store';
import type { Found, ListSearch } from '@batonjs/store/adapter';
import type { WantedTask } from '@batonjs/store/rules';
import { listedFact, taskOfSql, webhookOfSql } from '@batonjs/store/sql';
import { keysOfTerms, readTaskColumns, termsOfTask } from '../database/columns.ts';
import { type DatabaseRow, keyOf, markOf } from '../database/database.ts';
import type { Transactions } from '../database/postgres-error.ts';
import { toStoredFact } from './logs.ts';

/** More bytes than any page has, for queries without a bound. */
const unbounded = Number.MAX_SAFE_INTEGER;

/** Which tasks a page is of. */
type Filter = Omit<ListSearch, 'limit' | 'bytes' | 'after' | 'totalAtMost'> & {
  /** The keys of the tasks with the words. */
  readonly matched?: readonly unknown[] | undefined;
};

/** How many tasks with a text are looked at: those that began last. */
const mostMatches = 10_000;

/** Lists tasks by an ordered scan of the index for each state: a page costs the same however many tasks exist. */
export function taskListOf(schema: string, transactions: Transactions) {
  function page(
    scope: Scope,
    filter: Filter,
    { limit, bytes = unbounded, after }: Pick<ListSearch, 'limit' | 'bytes' | 'after'>,
  ): Promise<DatabaseRow[]> {
    const { values, place, conditions, states } = parts(scope, filter);
    const bind = (value: unknown) => `$${values.push(value)}`;
    if (after) {
      const at = bind(Date.parse(after.statusAt));
      conditions.push(`t.status_at <= ${at} AND (t.status_at < ${at} OR t.task_id < ${bind(after.taskId)})`);
    }
    const most = `${bind(limit)}::bigint`;
    const matching = [`t.${place} = $1`, 't.state = st.state', ...conditions].join(' AND ');
    // The index has the times but not the ids. Without the time of the last row of the page, all tasks of the state may be
    // read and sorted.
    const last = `SELECT t.status_at FROM ${schema}.tasks AS t WHERE ${matching}
      ORDER BY t.status_at DESC LIMIT 1 OFFSET ${most} - 1`;
    const order = 'ORDER BY status_at DESC, task_id DESC';
    // The first fact of a page is read whatever its size.
    const sql = `SELECT task_id, head, version, commit_id, fact, found FROM (
        SELECT p.*, f.version, f.commit_id, f.fact, count(*) OVER () AS found,
          row_number() OVER place AS number, sum(coalesce(octet_length(f.fact), 0)) OVER place AS size
        FROM (
          SELECT one.* FROM (${states}) AS st CROSS JOIN LATERAL (
            SELECT t.key, t.task_id, t.status_at, t.status_version, t.head FROM ${schema}.tasks AS t
            WHERE ${matching} AND t.status_at >= coalesce((${last}), '-Infinity'::float8)
            ORDER BY t.status_at DESC, t.task_id DESC LIMIT ${most}
          ) AS one ${order} LIMIT ${most}
        ) AS p LEFT JOIN ${schema}.facts AS f ON f.key = p.key AND f.version = p.status_version
        WINDOW place AS (ORDER BY p.status_at DESC, p.task_id DESC)
      ) AS sized WHERE number = 1 OR size <= ${bind(bytes)} ORDER BY number`;
    return transactions.query(sql, values);
  }

  /** From the counters if they have it; otherwise counted on an index. */
  async function totalOf(scope: Scope, filter: Filter, atMost: number | undefined): Promise<number> {
    if (atMost === 0) return 0;
    const { values, place, conditions, states } = parts(scope, filter);
    const { contextId, statusSince, terms, matched } = filter;
    const isCounted = contextId === undefined && statusSince === undefined && terms.length === 0 && !matched;
    const sql = isCounted
      ? `SELECT sum(tasks) AS total FROM ${schema}.counts WHERE key = $1 AND name IN (${states})`
      : `SELECT count(*) AS total FROM (SELECT 1 FROM ${schema}.tasks AS t
         WHERE ${[`t.${place} = $1`, `t.state IN (${states})`, ...conditions].join(' AND ')}
         LIMIT $${values.push(atMost ?? null)}) AS counted`;
    const [row] = await transactions.query(sql, values);
    return Number(row?.total ?? 0);
  }

  function parts(
    scope: Scope,
    { contextId, state, statusSince, answered, terms, matched, ...others }: Filter,
  ) {
    others satisfies Record<string, never>;
    const inContext = contextId !== undefined;
    const place = inContext ? 'context_key' : 'scope_key';
    const values: unknown[] = [inContext ? keyOf(scope, contextId) : keyOf(scope)];
    const bind = (value: unknown) => `$${values.push(value)}`;
    const wanted = [
      `key = ${inContext ? bind(keyOf(scope)) : '$1'}`,
      ...(state === undefined ? [] : [`name = ${bind(state)}`]),
      ...(answered ? [] : [`name <> ''`]),
    ];
    const states = `SELECT DISTINCT name AS state FROM ${schema}.counts WHERE ${wanted.join(' AND ')}`;
    const conditions = statusSince === undefined ? [] : [`t.status_at >= ${bind(Date.parse(statusSince))}`];
    if (terms.length > 0) conditions.push(`${termsOfTask} @> ${bind(keysOfTerms(scope, terms))}::text[]`);
    if (matched) conditions.push(`t.key = ANY(${bind(matched)}::text[])`);
    return { values, place, conditions, states };
  }

  /** Looked up once for a page and its total: a join may be planned as a look at the text of each task. */
  async function matching(scope: Scope, prefixes: readonly string[]): Promise<readonly unknown[]> {
    const wanted = [`'${markOf(scope)}'`, ...prefixes.map((one) => `'${one}':*`)].join(' & ');
    const sql = `SELECT key FROM ${schema}.task_texts WHERE words @@ $1::tsquery ORDER BY id DESC LIMIT ${mostMatches}`;
    return (await transactions.query(sql, [wanted])).map(({ key }) => key);
  }

  return {
    /** `prefixes`: only tasks whose text has words with all of these. */
    async list(scope: Scope, search: ListSearch, prefixes?: readonly string[]): Promise<TaskPage> {
      const { limit, bytes, after, totalAtMost, ...others } = search;
      const filter = { ...others, matched: prefixes && (await matching(scope, prefixes)) };
      const [rows, total] = await Promise.all([
        page(scope, filter, { limit, bytes, after }),
        totalOf(scope, filter, totalAtMost),
      ]);
      const isCut = rows.length < Number(rows[0]?.found ?? 0);
      return { tasks: rows.map(toListed), total, ...(isCut && { isCut }) };
    },
  };
}

function toListed({ task_id, head, version, commit_id, fact }: DatabaseRow): ListedTask {
  const listed = { taskId: String(task_id), head: JSON.parse(String(head)) };
  if (fact === null) return listed;
  return { ...listed, fact: listedFact(() => toStoredFact({ version, commit_id, fact })) };
}

export type Rows = readonly DatabaseRow[];

/** Statements without values, and what their rows tell. */
export interface Search {
  readonly statements: readonly string[];
  readonly found: (rows: readonly Rows[]) => Partial<Found>;
}

/** How rows are read: `'lock'` keeps those that it returns from others until the transaction ends. */
export type Mode = 'look' | 'lock';

/** Finds tasks by name: in the order of the keys, in which all transactions lock, so that they do not wait for each other in a circle. */
export function namedTasks(
  schema: string,
  mode: Mode,
  wanted: readonly WantedTask[],
  withWebhooks = false,
): Search {
  const tasks = wanted.map(({ scope, taskId, once }) => ({
    key: keyOf(scope, taskId),
    onceKey: once === undefined ? undefined : keyOf(once),
  }));
  const lock = mode === 'lock' ? 'FOR UPDATE' : '';
  const isOne = `key = ANY('{${tasks.map(({ key }) => key)}}'::text[])`;
  const pairs = tasks.flatMap(({ key, onceKey }) => (onceKey ? [`('${key}', '${onceKey}')`] : []));
  return {
    statements: [
      `SELECT ${readTaskColumns} FROM ${schema}.tasks WHERE ${isOne} ORDER BY key ${lock}`,
      ...(withWebhooks
        ? [`SELECT * FROM ${schema}.webhooks WHERE ${isOne} ORDER BY key, config_key ${lock}`]
        : []),
      ...(pairs.length > 0
        ? [`SELECT key, once_key, version FROM ${schema}.once_keys WHERE (key, once_key) IN (${pairs})`]
        : []),
    ],
    found: ([rows = [], ...more]) => {
      const byKey = new Map(rows.map((row) => [row.key, taskOfSql(row)]));
      const webhooks = Map.groupBy(withWebhooks ? (more.shift() ?? []) : [], ({ key }) => key);
      const [used = []] = more;
      return {
        tasks: tasks.map(({ key, onceKey }) => {
          const once = used.find((row) => row.key === key && row.once_key === onceKey);
          return {
            row: byKey.get(key),
            webhooks: (webhooks.get(key) ?? []).map(webhookOfSql),
            once: once && Number(once.version),
          };
        }),
      };
    },
  };
}
