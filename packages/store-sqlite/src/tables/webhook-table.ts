import { changedRow, type Replaced, type Wanted, type WebhookRow } from '@batonjs/store/adapter';
import { readyBetween } from '@batonjs/store/rules';
import { sqlWebhookColumns } from '@batonjs/store/sql';
import { type Database, type KeptWebhook, namesOf, toWebhook, valuesOf } from '../sql/database.ts';
import type { TaskTable } from './task-table.ts';

const mostCounted = 10_000;

/** Rows of the table `webhooks`. Called inside the caller's transaction. */
export function webhookTable(db: Database, tasks: TaskTable) {
  const names = ['task', ...namesOf(sqlWebhookColumns)];
  const select = (condition: string) =>
    db.prepare(`SELECT ${names.join(', ')} FROM webhooks WHERE ${condition}`);
  // No more than so many entries of each index are read.
  const some = (column: string) =>
    `(SELECT count(*) FROM (SELECT 1 FROM webhooks WHERE queue = ?1 AND ${column} IS NOT NULL LIMIT ${mostCounted}))`;
  const sql = {
    ofTask: select('task = ?'),
    ready: select('queue = ? AND ready_at > ? AND ready_at <= ? ORDER BY ready_at LIMIT ?'),
    dead: select('queue = ? AND dead IS NOT NULL ORDER BY scope, task_id, id LIMIT ?'),
    counts: db.prepare(`SELECT ${some('ready_at')} AS undelivered, ${some('dead')} AS dead`),
    put: db.prepare(
      `REPLACE INTO webhooks (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    ),
    remove: db.prepare('DELETE FROM webhooks WHERE task = ? AND id = ?'),
  };

  return {
    of: (task: number): KeptWebhook[] => sql.ofTask.all(task).map(toWebhook),
    ready: (wanted: NonNullable<Wanted['deliveries']>, now: number): KeptWebhook[] =>
      sql.ready.all(wanted.queue, ...readyBetween(wanted, now), wanted.limit).map(toWebhook),
    dead: (queue: string, limit: number): KeptWebhook[] => sql.dead.all(queue, limit).map(toWebhook),
    /** How many webhooks of a queue have not heard of all updates, and were given up: up to 10,000 of each. */
    counts(queue: string): { undelivered: number; dead: number } {
      const found = sql.counts.get(queue);
      return { undelivered: Number(found?.undelivered), dead: Number(found?.dead) };
    },
    replace(change: Replaced<WebhookRow>): void {
      const row = changedRow(change);
      const before = change.before as KeptWebhook | undefined;
      const task = before?.task ?? tasks.numberOf(row);
      if (change.after) sql.put.run(task, ...valuesOf(sqlWebhookColumns, row));
      else sql.remove.run(task, row.id);
    },
  };
}
