import { type Subscribers, topicNumber } from '@batonjs/store/adapter';
import { clock, keyOf } from '../database/database.ts';
import type { Transactions } from '../database/postgres-error.ts';

// How often the database is asked for changes, in milliseconds: less often while there are none.
const shortestMs = 10;
const longestMs = 500;

/** Asks the database for changes of the topics that this process subscribes to, while it is not notified of them. */
export function pollOf(schema: string, transactions: Transactions, subscribers: Subscribers) {
  const versionsOf = `SELECT key, version FROM ${schema}.tasks WHERE key = ANY($1::text[])`;
  const any = (table: string, condition: string) =>
    `EXISTS (SELECT 1 FROM ${schema}.${table} AS t WHERE t.queue_key = u.key AND t.${condition})`;
  const come = (column: string) => `${column} <= (SELECT ${clock})::float8`;
  const readyAmong = `SELECT u.key FROM unnest($1::text[]) AS u (key) WHERE
    ${any('tasks', 'waiting_since IS NOT NULL')} OR ${any('tasks', come('due_at'))}
    OR ${any('tasks', come('lease_until'))} OR ${any('webhooks', come('ready_at'))}`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let runs = false;
  /** Whether there are no notifications. */
  let isAlone = true;
  let waitMs = shortestMs;
  let seen = new Map<number, number>();

  /** Begins, or asks again soon. */
  function start(): void {
    // Many of these would postpone it forever.
    if (runs && isAlone && waitMs === shortestMs) return;
    runs = true;
    isAlone = true;
    waitMs = shortestMs;
    clearTimeout(timer);
    askLater();
  }

  function askLater(): void {
    // Subscribers alone do not keep the process alive.
    timer = setTimeout(() => void ask(), waitMs).unref();
  }

  async function ask(): Promise<void> {
    const current = timer;
    const changed = await refresh().catch(() => false);
    if (!runs || current !== timer) return;
    waitMs = changed && isAlone ? shortestMs : Math.min(longestMs, waitMs * 1.5);
    askLater();
  }

  /** Notifies of what changed. Resolves whether anything did. */
  async function refresh(): Promise<boolean> {
    const tasks = new Map<string, number>();
    const queues = new Map<string, number>();
    for (const topic of subscribers.topics) {
      if ('queue' in topic) queues.set(keyOf(topic.queue), topicNumber(topic));
      else tasks.set(keyOf(topic.scope, topic.taskId), topicNumber(topic));
    }
    const [versions, ready] = await Promise.all([
      tasks.size > 0 ? transactions.query(versionsOf, [[...tasks.keys()]]) : [],
      queues.size > 0 ? transactions.query(readyAmong, [[...queues.keys()]]) : [],
    ]);
    const before = seen;
    seen = new Map();
    let changed = false;
    for (const { key, version } of versions) {
      const number = tasks.get(String(key));
      if (number === undefined) continue;
      seen.set(number, Number(version));
      if (before.get(number) === Number(version)) continue;
      changed = true;
      subscribers.notify(number, Number(version));
    }
    // A queue goes on being ready until its tasks are claimed: this alone is no reason to ask more often.
    const isReady = new Set(ready.map(({ key }) => key));
    for (const [key, number] of queues) if (isReady.has(key)) subscribers.notify(number);
    return changed;
  }

  return {
    start,
    /** Begins to look for what notifications may leave out: soon, and then ever more rarely. Or goes on. */
    run(): void {
      if (runs) return;
      start();
      isAlone = false;
    },
    stop(): void {
      runs = false;
      seen = new Map();
      clearTimeout(timer);
    },
  };
}

/** For how long it holds that a process listens, in milliseconds. */
const holdsMs = 90_000;

/**
 * Whether another process listens, as a condition of SQL, for all who write: none notifies where no other one can hear it.
 * `id`: the sender, without quotes.
 */
export const isHeard = (schema: string, id: string): string =>
  `EXISTS (SELECT FROM ${schema}.listeners WHERE id <> '${id}' AND until > ${clock})`;

export interface RegistrationOptions {
  readonly schema: string;
  readonly id: string;
  readonly transactions: Transactions;
  /** How often it is renewed, in milliseconds. Longer than any statement takes. Default 30,000. */
  readonly renewEveryMs?: number | undefined;
  /** Called with each renewal: all statements that began before the last one have ended. */
  readonly onKnown: () => void;
  /** Called where others may have known nothing of this process for a while. */
  readonly onLapsed: () => void;
}

/** What says in the database that this process listens. */
export function registration({
  schema,
  id,
  transactions,
  renewEveryMs = 30_000,
  onKnown,
  onLapsed,
}: RegistrationOptions) {
  const remove = `DELETE FROM ${schema}.listeners WHERE id = '${id}'`;
  // Processes that ended without a word are forgotten with it.
  const put = `WITH old AS (
      DELETE FROM ${schema}.listeners WHERE id IN (
        SELECT id FROM ${schema}.listeners WHERE id <> '${id}' AND until <= ${clock} FOR UPDATE SKIP LOCKED)
    ), held AS (SELECT FROM ${schema}.listeners WHERE id = '${id}' AND until > ${clock})
    INSERT INTO ${schema}.listeners (id, until) SELECT '${id}', ${clock} + ${holdsMs}
    ON CONFLICT (id) DO UPDATE SET until = excluded.until RETURNING EXISTS (SELECT FROM held) AS held`;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function renewLater(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void renew(), renewEveryMs).unref();
  }

  async function renew(): Promise<void> {
    const current = timer;
    const [renewed] = await transactions.query(put).catch(() => []);
    if (current !== timer) return;
    if (renewed?.held) onKnown();
    else if (renewed) onLapsed();
    renewLater();
  }

  return {
    /** Resolves once all who begin to write from now on know of this process: to whether they did before. */
    async begin(): Promise<boolean> {
      const [row] = await transactions.query(put);
      renewLater();
      return row?.held === true;
    },
    async end(): Promise<void> {
      const current = timer;
      clearTimeout(current);
      // Before the deletion, so that a renewal under way begins no other timer.
      timer = undefined;
      if (current) await transactions.query(remove).catch(() => {});
    },
  };
}
