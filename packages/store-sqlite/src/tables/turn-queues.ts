import type { CallerRow, Found, Moment, QueueRow, Wanted } from '@batonjs/store/adapter';
import { forgottenTurns } from '@batonjs/store/rules';
import { type Database, type KeptTask, readColumns, toTask } from '../sql/database.ts';
import { asking } from '../sql/schema.ts';

/** Finds the tasks that can be claimed. */
export function turnQueuesOf(db: Database) {
  const find = (condition: string) =>
    db.prepare(`SELECT ${readColumns} FROM tasks WHERE ${condition} LIMIT ?`);
  // From one caller to the next on the index: reads as many entries as there are callers, not tasks.
  const next = (condition: string) =>
    `SELECT scope FROM tasks WHERE queue = ?1 AND turn_at IS NOT NULL ${condition} ORDER BY scope LIMIT 1`;
  const sql = {
    asked: db.prepare(
      `SELECT status_at AS at FROM tasks WHERE queue = ? AND ${asking} ORDER BY status_at LIMIT 1`,
    ),
    held: find('holder = ? AND queue = ?'),
    waiting: find('queue = ? AND waiting_since IS NOT NULL ORDER BY waiting_since, id'),
    due: find('queue = ? AND due_at <= ? ORDER BY due_at, id'),
    left: find('queue = ? AND lease_until <= ? ORDER BY lease_until, id'),
    running: db.prepare(
      `SELECT tasks.scope AS scope, context_id AS context FROM tasks JOIN contexts ON contexts.id = context
         WHERE queue = ? AND lease_until IS NOT NULL`,
    ),
    callers: db.prepare(
      `WITH RECURSIVE found (scope) AS (
           SELECT (${next('')})
           UNION ALL
           SELECT (${next('AND scope > found.scope')}) FROM found WHERE found.scope IS NOT NULL
         )
         SELECT found.scope AS scope, coalesce(callers.turn, 0) AS turn, (SELECT min(turn_at) FROM tasks
           WHERE queue = ?1 AND scope = found.scope AND turn_at IS NOT NULL) AS firstAt
         FROM found LEFT JOIN callers ON callers.queue = ?1 AND callers.scope = found.scope
         WHERE found.scope IS NOT NULL`,
    ),
    turns: find(
      `queue = ? AND scope = ? AND turn_at <= ? AND (waiting_since IS NOT NULL OR due_at <= ?)
         AND context NOT IN (SELECT id FROM contexts
           WHERE scope = ? AND context_id IN (SELECT value FROM json_each(?)))
         ORDER BY turn_at, id`,
    ),
    queue: db.prepare('SELECT turns FROM queues WHERE queue = ?'),
    putQueue: db.prepare('REPLACE INTO queues (queue, turns) VALUES (?, ?)'),
    putCaller: db.prepare('REPLACE INTO callers (queue, scope, turn) VALUES (?, ?, ?)'),
    forgetCallers: db.prepare('DELETE FROM callers WHERE queue = ? AND turn <= ?'),
  };

  return {
    held: ({ queue, holder, limit }: NonNullable<Wanted['held']>): KeptTask[] =>
      sql.held.all(holder, queue, limit).map(toTask),
    ready: (
      { queue, limit, left, aheadMs = 0 }: NonNullable<Wanted['ready']>,
      now: number,
      leaseNow: number,
    ): NonNullable<Found['ready']> => ({
      waiting: sql.waiting.all(queue, limit).map(toTask),
      due: sql.due.all(queue, now + aheadMs, limit).map(toTask),
      left: sql.left.all(queue, leaseNow + aheadMs, left).map(toTask),
    }),
    schedule({ queue }: NonNullable<Wanted['schedule']>): NonNullable<Found['schedule']> {
      const kept = sql.queue.get(queue);
      return {
        row: kept && { queue, revision: 0, turns: Number(kept.turns) },
        running: sql.running
          .all(queue)
          .map(({ scope, context }) => ({ scope: String(scope), context: String(context) })),
        callers: sql.callers.all(queue).map(({ scope, firstAt, turn }) => ({
          scope: String(scope),
          firstAt: Number(firstAt),
          turn: Number(turn),
        })),
      };
    },
    turns: (
      { queue, callers, limit }: NonNullable<Wanted['turns']>,
      { now, orderNow }: Moment,
    ): KeptTask[][] =>
      callers.map(({ scope, except }) =>
        sql.turns.all(queue, scope, orderNow, now, scope, JSON.stringify(except), limit).map(toTask),
      ),
    /** When the oldest task that asks was asked; undefined without any. */
    askedAt(queue: string): number | undefined {
      const found = sql.asked.get(queue);
      return found && Number(found.at);
    },
    /** Notes what a schedule remembers. */
    remember({ queue, turns }: QueueRow, callers: readonly CallerRow[]): void {
      sql.putQueue.run(queue, turns);
      for (const { scope, turn } of callers) sql.putCaller.run(queue, scope, turn);
      sql.forgetCallers.run(queue, forgottenTurns(turns));
    },
  };
}
