import type { Found, TaskRow, Wanted } from '@batonjs/store/adapter';
import type { TurnPlace, WaitingCaller } from '@batonjs/store/rules';
import { recordOfSql, taskOfSql, webhookOfSql } from '@batonjs/store/sql';
import { readTaskColumns } from '../database/columns.ts';
import { clock, type DatabaseRow, keyOf } from '../database/database.ts';
import { asking } from '../database/schema.ts';
import { type Mode, namedTasks, type Rows, type Search } from './task-list.ts';

/** The most facts that one transaction deletes, unless a single log has more: it must end in time. */
const mostFacts = 10_000;

export interface SearchedAt {
  /** The moment to search at. Without it, the database's clock. */
  readonly now?: number | undefined;
  /** No log that is looked for ended before this time. */
  readonly endedFrom?: number | undefined;
}

type Name = Exclude<keyof Wanted, 'webhooks' | 'bucket' | 'part'>;

/** Where and how a step searches. `skip`: rows that another transaction has locked are left to it. */
const placeOf = (schema: string, mode: Mode, { now, endedFrom }: SearchedAt, webhooks?: boolean) => ({
  ...{ schema, mode, endedFrom, webhooks },
  now: now === undefined ? `(SELECT ${clock})::float8` : `${now}`,
  skip: mode === 'lock' ? 'FOR UPDATE SKIP LOCKED' : '',
});

type Place = ReturnType<typeof placeOf>;

/**
 * The searches of a step. Keys are digests and limits are numbers, so that statements need
 * no values and one round trip takes them all.
 */
export function searchesOf(schema: string, wanted: Wanted, mode: Mode, at: SearchedAt = {}): Search[] {
  const place = placeOf(schema, mode, at, wanted.webhooks);
  const search = <One extends Name>(name: One): Search | [] => {
    const one = wanted[name];
    return one === undefined ? [] : searches[name](one, place);
  };
  return names.flatMap(search);
}

export const statementsOf = (searches: readonly Search[]): string[] =>
  searches.flatMap(({ statements }) => statements);

/** What the rows of all statements tell, in the order of the searches. */
export function foundBy(searches: readonly Search[], rows: readonly Rows[]): Partial<Found> {
  const left = [...rows];
  const found = searches.map((search) => search.found(left.splice(0, search.statements.length)));
  return Object.assign({}, ...found);
}

/** The searches by what a step wants. */
const searches: { readonly [One in Name]: (wanted: NonNullable<Wanted[One]>, place: Place) => Search } = {
  schedule({ queue }, { schema, mode }) {
    const key = keyOf(queue);
    // A queue may have no row yet that could be locked.
    const lock = `SELECT pg_advisory_xact_lock(hashtext('baton turns ${key}'), hashtext('${key}'))`;
    return {
      statements: [
        ...(mode === 'lock' ? [lock] : []),
        `SELECT revision, turns FROM ${schema}.queues WHERE queue_key = '${key}'`,
        `SELECT scope, head FROM ${schema}.tasks WHERE queue_key = '${key}' AND lease_until IS NOT NULL`,
        callersIn(schema, key),
      ],
      found: (rows) => {
        const [kept = [], running = [], callers = []] = rows.slice(-3);
        const [row] = kept;
        return {
          schedule: {
            row: row && { queue, revision: Number(row.revision), turns: Number(row.turns) },
            running: running.map(toPlace),
            callers: callers.map(toCaller),
          },
        };
      },
    };
  },
  tasks: (tasks, { schema, mode, webhooks }) => namedTasks(schema, mode, tasks, webhooks),
  /** Of its own tasks a holder waits for those that are just being written, in the order in which all writes lock. */
  held({ queue, holder, limit }, { schema, mode }) {
    const lock = mode === 'lock' ? 'FOR UPDATE' : '';
    const statement = `${tasksIn(schema, queue)} AND holder_key = '${keyOf(holder)}' ORDER BY key LIMIT ${limit} ${lock}`;
    return single(statement, (rows) => ({ held: rows.map(taskOfSql) }));
  },
  ready({ queue, limit, left, aheadMs = 0 }, { schema, now, skip }) {
    const first = (column: string, condition: string, most = limit) =>
      `${tasksIn(schema, queue)} AND ${condition} ORDER BY ${column} LIMIT ${most} ${skip}`;
    return {
      statements: [
        first('waiting_since', 'waiting_since IS NOT NULL'),
        first('due_at', `due_at <= ${now} + ${aheadMs}`),
        first('lease_until', `lease_until <= ${now} + ${aheadMs}`, left),
      ],
      found: (rows) => {
        const [waiting = [], due = [], left = []] = rows.map((some) => some.map(taskOfSql));
        return { ready: { waiting, due, left } };
      },
    };
  },
  turns({ queue, callers, limit }, { schema, now, skip }) {
    if (callers.length === 0) return { statements: [], found: () => ({}) };
    const named = callers.map(({ scope, except }, n) => {
      const contexts = except.map((context) => keyOf(scope, context));
      return `(${n}, '${keyOf(scope)}', '{${contexts}}'::text[])`;
    });
    return single(
      `SELECT c.n, one.* FROM (VALUES ${named}) AS c (n, scope_key, contexts) CROSS JOIN LATERAL (
          ${tasksIn(schema, queue)} AND t.scope_key = c.scope_key AND turn_at <= ${now}
          AND (waiting_since IS NOT NULL OR due_at <= ${now}) AND NOT context_key = ANY(c.contexts)
          ORDER BY turn_at LIMIT ${limit} ${skip}
        ) AS one ORDER BY c.n, one.turn_at`,
      (rows) => ({ turns: callers.map((_, n) => rows.filter((row) => row.n === n).map(taskOfSql)) }),
    );
  },
  deliveries({ queue, limit, aheadMs = 0, beyondMs }, { schema, now, skip }) {
    const when = beyondMs === undefined ? `<= ${now} + ${aheadMs}` : `> ${now} + ${beyondMs}`;
    return single(
      `${webhooksIn(schema, queue)} AND ready_at ${when} ORDER BY ready_at LIMIT ${limit} ${skip}`,
      (rows) => ({ deliveries: rows.map(webhookOfSql) }),
    );
  },
  dead: ({ queue, limit }, { schema }) =>
    single(
      `${webhooksIn(schema, queue)} AND dead IS NOT NULL ORDER BY scope, task_id, id LIMIT ${limit}`,
      (rows) => ({ dead: rows.map(webhookOfSql) }),
    ),
  ended({ before, limit }, { schema, skip, endedFrom }) {
    const start = endedFrom === undefined ? '' : `AND ended_at >= ${endedFrom}`;
    return single(
      `SELECT ${readTaskColumns} FROM ${schema}.tasks
        WHERE ended_at < ${before} ${start} ORDER BY ended_at LIMIT ${limit} ${skip}`,
      (rows) => ({ ended: batchOf(rows.map(taskOfSql)) }),
    );
  },
  /** Names have no quotes. In their order, in which all transactions lock. */
  records(names, { schema, mode }) {
    const sql = `SELECT * FROM ${schema}.records
      WHERE name = ANY('{${names.map((name) => `"${name}"`)}}'::text[])
      ORDER BY name ${mode === 'lock' ? 'FOR UPDATE' : ''}`;
    return single(sql, (rows) => {
      const known = new Map(rows.map((row) => [String(row.name), recordOfSql(row)]));
      return { records: names.map((name) => known.get(name)) };
    });
  },
  listed({ scope, from, until, limit }, { schema }) {
    const ofScope = scope === undefined ? '' : `AND scope_key = '${keyOf(scope)}'`;
    return single(
      `SELECT * FROM ${schema}.records
        WHERE name >= '${from}' AND name < '${until}' ${ofScope} ORDER BY name LIMIT ${limit}`,
      (rows) => ({ listed: rows.map(recordOfSql) }),
    );
  },
  expired: ({ limit }, { schema, now, skip }) =>
    single(
      `SELECT * FROM ${schema}.records
        WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit} ${skip}`,
      (rows) => ({ expired: rows.map(recordOfSql) }),
    ),
  /** Who counts in order to add one waits for others who do. */
  waiting({ queue }, { schema, mode }) {
    const key = waitingKey(queue);
    const lock = `SELECT pg_advisory_xact_lock(hashtext('baton waiting ${key}'), hashtext('${key}'))`;
    return {
      statements: [
        ...(mode === 'lock' ? [lock] : []),
        `SELECT coalesce(sum(tasks), 0) AS tasks FROM ${schema}.counts WHERE key = '${key}'`,
      ],
      found: (rows) => ({ waiting: Number(rows.at(-1)?.[0]?.tasks) }),
    };
  },
  counts({ queue }, { schema }) {
    const key = keyOf(queue);
    const some = (column: string) =>
      `(SELECT count(*) FROM (SELECT 1 FROM ${schema}.webhooks
        WHERE queue_key = '${key}' AND ${column} IS NOT NULL LIMIT ${mostCounted}) AS few)`;
    return {
      statements: [
        `SELECT name, sum(tasks) AS tasks FROM ${schema}.counts WHERE key = '${countsKey(queue)}' GROUP BY name`,
        `SELECT (SELECT status_at FROM ${schema}.tasks WHERE queue_key = '${key}' AND ${asking}
          ORDER BY status_at LIMIT 1) AS asked_at, ${some('ready_at')} AS undelivered, ${some('dead')} AS dead`,
      ],
      found: ([counts = [], rows = []]) => ({
        counts: {
          tasks: Object.fromEntries(counts.map(({ name, tasks }) => [String(name), Number(tasks)])),
          askedAt: rows[0]?.asked_at == null ? undefined : Number(rows[0].asked_at),
          undelivered: Number(rows[0]?.undelivered),
          dead: Number(rows[0]?.dead),
        },
      }),
    };
  },
};

/** In the order of the statements. `schedule` is first: who waits for the lock of a queue has locked nothing else. */
const names: readonly Name[] = [
  ...(['schedule', 'tasks', 'held', 'ready', 'turns', 'deliveries', 'dead', 'ended'] as const),
  ...(['records', 'listed', 'expired', 'waiting', 'counts'] as const),
];

const tasksIn = (schema: string, queue: string): string =>
  `SELECT ${readTaskColumns} FROM ${schema}.tasks AS t WHERE queue_key = '${keyOf(queue)}'`;

const webhooksIn = (schema: string, queue: string): string =>
  `SELECT * FROM ${schema}.webhooks WHERE queue_key = '${keyOf(queue)}'`;

/** From one caller to the next on the index: reads as many entries as there are callers, not tasks. */
function callersIn(schema: string, key: string): string {
  const next = (condition: string) => `SELECT t.scope_key, t.scope, t.turn_at FROM ${schema}.tasks AS t
    WHERE t.queue_key = '${key}' AND t.turn_at IS NOT NULL ${condition}
    ORDER BY t.scope_key, t.turn_at LIMIT 1`;
  return `WITH RECURSIVE firsts AS (
      (${next('')})
      UNION ALL
      SELECT n.* FROM firsts AS f CROSS JOIN LATERAL (${next('AND t.scope_key > f.scope_key')}) AS n
    )
    SELECT f.scope, f.turn_at, coalesce(c.turn, 0) AS turn FROM firsts AS f
    LEFT JOIN ${schema}.callers AS c ON c.queue_key = '${key}' AND c.scope_key = f.scope_key`;
}

const single = (statement: string, read: (rows: Rows) => Partial<Found>): Search => ({
  statements: [statement],
  found: ([rows = []]) => read(rows),
});

/** The first log, and those after it while all of them together have few enough facts for one transaction. */
function batchOf(logs: readonly TaskRow[]): readonly TaskRow[] {
  let facts = 0;
  const end = logs.findIndex(({ version }, n) => {
    facts += version;
    return n > 0 && facts > mostFacts;
  });
  return end === -1 ? logs : logs.slice(0, end);
}

/** How many webhooks are counted: no more entries of an index are read. */
const mostCounted = 10_000;

/** The key under which the tasks of a queue that ask or are postponed are counted. */
export const countsKey = (queue: string): string => keyOf('counts', queue);

/** The key under which the waiting tasks of a queue are counted: no scope is counted under it. */
export const waitingKey = (queue: string): string => keyOf('waiting', queue);

const toPlace = ({ scope, head }: DatabaseRow): TurnPlace => ({
  scope: String(scope),
  context: JSON.parse(String(head)).contextId,
});

const toCaller = ({ scope, turn_at, turn }: DatabaseRow): WaitingCaller => ({
  scope: String(scope),
  firstAt: Number(turn_at),
  turn: Number(turn),
});
