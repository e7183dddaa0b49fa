import type { Replaced, WebhookRow } from '@batonjs/store';
import type { Database } from '../sql/database.ts';
import { type KeptWebhook, namesOf, toWebhook, valuesOf, webhookColumns } from './columns.ts';
import type { TaskTable } from './task-table.ts';

/** Rows of the table `webhooks`. Called inside the caller's transaction. */
export class WebhookTable {
  readonly #tasks: TaskTable;
  readonly #ofTask;
  readonly #ready;
  readonly #dead;
  readonly #put;
  readonly #remove;

  constructor(db: Database, tasks: TaskTable) {
    this.#tasks = tasks;
    const names = namesOf(webhookColumns);
    const select = (condition: string) =>
      db.prepare(`SELECT task, id, scope, task_id, ${names.join(', ')} FROM webhooks WHERE ${condition}`);
    this.#ofTask = select('task = ?');
    this.#ready = select('queue = ? AND ready_at <= ? ORDER BY ready_at LIMIT ?');
    this.#dead = select('queue = ? AND dead IS NOT NULL ORDER BY scope, task_id, id LIMIT ?');
    this.#put = db.prepare(
      `REPLACE INTO webhooks (task, id, scope, task_id, ${names.join(', ')})
       VALUES (?, ?, ?, ?, ${names.map(() => '?').join(', ')})`,
    );
    this.#remove = db.prepare('DELETE FROM webhooks WHERE task = ? AND id = ?');
  }

  of(task: number): KeptWebhook[] {
    return this.#ofTask.all(task).map(toWebhook);
  }

  ready(queue: string, now: number, limit: number): KeptWebhook[] {
    return this.#ready.all(queue, now, limit).map(toWebhook);
  }

  dead(queue: string, limit: number): KeptWebhook[] {
    return this.#dead.all(queue, limit).map(toWebhook);
  }

  replace({ before, after }: Replaced<WebhookRow>): void {
    const task = (before as KeptWebhook | undefined)?.task ?? this.#tasks.find(after!)!.id;
    if (after) this.#put.run(task, after.id, after.scope, after.taskId, ...valuesOf(webhookColumns, after));
    else this.#remove.run(task, before!.id);
  }
}
