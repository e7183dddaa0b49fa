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

/**
 * The searches of a step. Keys are digests and limits are numbers, so that statements need
 * no values and one round trip takes them all.
 */
export function searchesOf(
  schema: string,
  wanted: Wanted,
  mode: Mode,
  { now, endedFrom }: SearchedAt = {},
): Search[] {
  const make = new Searches(schema, mode, now === undefined ? `(SELECT ${clock})::float8` : `${now}`);
  const { held, ready, schedule, turns, deliveries, dead, ended, waiting, counts } = wanted;
  const { records, listed, expired } = wanted;
  return [
    // First: who waits for the lock of a queue has locked nothing else.
    ...(schedule ? [make.schedule(schedule.queue)] : []),
    ...(wanted.tasks ? [namedTasks(schema, mode, wanted.tasks, wanted.webhooks)] : []),
    ...(held ? [make.held(held)] : []),
    ...(ready ? [make.ready(ready)] : []),
    ...(turns && turns.callers.length > 0 ? [make.turns(turns)] : []),
    ...(deliveries ? [make.deliveries(deliveries)] : []),
    ...(dead ? [make.dead(dead)] : []),
    ...(ended ? [make.ended(ended, endedFrom)] : []),
    ...(records ? [make.records(records)] : []),
    ...(listed ? [make.listed(listed)] : []),
    ...(expired ? [make.expired(expired)] : []),
    ...(waiting ? [make.waiting(waiting.queue)] : []),
    ...(counts ? [make.counts(counts.queue)] : []),
  ];
}

export const statementsOf = (searches: readonly Search[]): string[] =>
  searches.flatMap(({ statements }) => statements);

/** What the rows of all statements tell, in the order of the searches. */
export function foundBy(searches: readonly Search[], rows: readonly Rows[]): Partial<Found> {
  const left = [...rows];
  const found = searches.map((search) => search.found(left.splice(0, search.statements.length)));
  return Object.assign({}, ...found);
}

class Searches {
  readonly #schema: string;
  readonly #mode: Mode;
  readonly #now: string;
  /** Rows that another transaction has locked are left to it. */
  readonly #skip: string;

  constructor(schema: string, mode: Mode, now: string) {
    this.#schema = schema;
    this.#mode = mode;
    this.#now = now;
    this.#skip = mode === 'lock' ? 'FOR UPDATE SKIP LOCKED' : '';
  }

  /** Of its own tasks a holder waits for those that are just being written, in the order in which all writes lock. */
  held({ queue, holder, limit }: NonNullable<Wanted['held']>): Search {
    const lock = this.#mode === 'lock' ? 'FOR UPDATE' : '';
    const statement = `${this.#tasks(queue)} AND holder_key = '${keyOf(holder)}' ORDER BY key LIMIT ${limit} ${lock}`;
    return single(statement, (rows) => ({ held: rows.map(taskOfSql) }));
  }

  ready({ queue, limit, left, aheadMs = 0 }: NonNullable<Wanted['ready']>): Search {
    const first = (column: string, condition: string, most = limit) =>
      `${this.#tasks(queue)} AND ${condition} ORDER BY ${column} LIMIT ${most} ${this.#skip}`;
    return {
      statements: [
        first('waiting_since', 'waiting_since IS NOT NULL'),
        first('due_at', `due_at <= ${this.#now} + ${aheadMs}`),
        first('lease_until', `lease_until <= ${this.#now} + ${aheadMs}`, left),
      ],
      found: (rows) => {
        const [waiting = [], due = [], left = []] = rows.map((some) => some.map(taskOfSql));
        return { ready: { waiting, due, left } };
      },
    };
  }

  schedule(queue: string): Search {
    const key = keyOf(queue);
    // A queue may have no row yet that could be locked.
    const lock = `SELECT pg_advisory_xact_lock(hashtext('baton turns ${key}'), hashtext('${key}'))`;
    return {
      statements: [
        ...(this.#mode === 'lock' ? [lock] : []),
        `SELECT revision, turns FROM ${this.#schema}.queues WHERE queue_key = '${key}'`,
        `SELECT scope, head FROM ${this.#schema}.tasks WHERE queue_key = '${key}' AND lease_until IS NOT NULL`,
        this.#callers(key),
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
  }

  turns({ queue, callers, limit }: NonNullable<Wanted['turns']>): Search {
    const named = callers.map(({ scope, except }, n) => {
      const contexts = except.map((context) => keyOf(scope, context));
      return `(${n}, '${keyOf(scope)}', '{${contexts}}'::text[])`;
    });
    return single(
      `SELECT c.n, one.* FROM (VALUES ${named}) AS c (n, scope_key, contexts) CROSS JOIN LATERAL (
          ${this.#tasks(queue)} AND t.scope_key = c.scope_key AND turn_at <= ${this.#now}
          AND (waiting_since IS NOT NULL OR due_at <= ${this.#now}) AND NOT context_key = ANY(c.contexts)
          ORDER BY turn_at LIMIT ${limit} ${this.#skip}
        ) AS one ORDER BY c.n, one.turn_at`,
      (rows) => ({ turns: callers.map((_, n) => rows.filter((row) => row.n === n).map(taskOfSql)) }),
    );
  }

  deliveries({ queue, limit, aheadMs = 0, beyondMs }: NonNullable<Wanted['deliveries']>): Search {
    const when = beyondMs === undefined ? `<= ${this.#now} + ${aheadMs}` : `> ${this.#now} + ${beyondMs}`;
    return single(
      `${this.#webhooks(queue)} AND ready_at ${when} ORDER BY ready_at LIMIT ${limit} ${this.#skip}`,
      (rows) => ({ deliveries: rows.map(webhookOfSql) }),
    );
  }

  dead({ queue, limit }: NonNullable<Wanted['dead']>): Search {
    return single(
      `${this.#webhooks(queue)} AND dead IS NOT NULL ORDER BY scope, task_id, id LIMIT ${limit}`,
      (rows) => ({ dead: rows.map(webhookOfSql) }),
    );
  }

  ended({ before, limit }: NonNullable<Wanted['ended']>, from: number | undefined): Search {
    const start = from === undefined ? '' : `AND ended_at >= ${from}`;
    return single(
      `SELECT ${readTaskColumns} FROM ${this.#schema}.tasks
        WHERE ended_at < ${before} ${start} ORDER BY ended_at LIMIT ${limit} ${this.#skip}`,
      (rows) => ({ ended: batchOf(rows.map(taskOfSql)) }),
    );
  }

  /** Names have no quotes. In their order, in which all transactions lock. */
  records(names: readonly string[]): Search {
    const sql = `SELECT * FROM ${this.#schema}.records
      WHERE name = ANY('{${names.map((name) => `"${name}"`)}}'::text[])
      ORDER BY name ${this.#mode === 'lock' ? 'FOR UPDATE' : ''}`;
    return single(sql, (rows) => {
      const known = new Map(rows.map((row) => [String(row.name), recordOfSql(row)]));
      return { records: names.map((name) => known.get(name)) };
    });
  }

  listed({ scope, from, until, limit }: NonNullable<Wanted['listed']>): Search {
    const ofScope = scope === undefined ? '' : `AND scope_key = '${keyOf(scope)}'`;
    return single(
      `SELECT * FROM ${this.#schema}.records
        WHERE name >= '${from}' AND name < '${until}' ${ofScope} ORDER BY name LIMIT ${limit}`,
      (rows) => ({ listed: rows.map(recordOfSql) }),
    );
  }

  expired({ limit }: NonNullable<Wanted['expired']>): Search {
    return single(
      `SELECT * FROM ${this.#schema}.records
        WHERE expires_at <= ${this.#now} ORDER BY expires_at LIMIT ${limit} ${this.#skip}`,
      (rows) => ({ expired: rows.map(recordOfSql) }),
    );
  }

  /** Who counts in order to add one waits for others who do. */
  waiting(queue: string): Search {
    const key = waitingKey(queue);
    const lock = `SELECT pg_advisory_xact_lock(hashtext('baton waiting ${key}'), hashtext('${key}'))`;
    return {
      statements: [
        ...(this.#mode === 'lock' ? [lock] : []),
        `SELECT coalesce(sum(tasks), 0) AS tasks FROM ${this.#schema}.counts WHERE key = '${key}'`,
      ],
      found: (rows) => ({ waiting: Number(rows.at(-1)?.[0]?.tasks) }),
    };
  }

  counts(queue: string): Search {
    const key = keyOf(queue);
    const some = (column: string) =>
      `(SELECT count(*) FROM (SELECT 1 FROM ${this.#schema}.webhooks
        WHERE queue_key = '${key}' AND ${column} IS NOT NULL LIMIT ${mostCounted}) AS few)`;
    return {
      statements: [
        `SELECT name, sum(tasks) AS tasks FROM ${this.#schema}.counts WHERE key = '${countsKey(queue)}' GROUP BY name`,
        `SELECT (SELECT status_at FROM ${this.#schema}.tasks WHERE queue_key = '${key}' AND ${asking}
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
  }

  #tasks(queue: string): string {
    return `SELECT ${readTaskColumns} FROM ${this.#schema}.tasks AS t WHERE queue_key = '${keyOf(queue)}'`;
  }

  #webhooks(queue: string): string {
    return `SELECT * FROM ${this.#schema}.webhooks WHERE queue_key = '${keyOf(queue)}'`;
  }

  /** From one caller to the next on the index: reads as many entries as there are callers, not tasks. */
  #callers(key: string): string {
    const next = (
      condition: string,
    ) => `SELECT t.scope_key, t.scope, t.turn_at FROM ${this.#schema}.tasks AS t
      WHERE t.queue_key = '${key}' AND t.turn_at IS NOT NULL ${condition}
      ORDER BY t.scope_key, t.turn_at LIMIT 1`;
    return `WITH RECURSIVE firsts AS (
        (${next('')})
        UNION ALL
        SELECT n.* FROM firsts AS f CROSS JOIN LATERAL (${next('AND t.scope_key > f.scope_key')}) AS n
      )
      SELECT f.scope, f.turn_at, coalesce(c.turn, 0) AS turn FROM firsts AS f
      LEFT JOIN ${this.#schema}.callers AS c ON c.queue_key = '${key}' AND c.scope_key = f.scope_key`;
  }
}

/** A search of one statement. */
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
