import {
  changedRow,
  type FoundTask,
  type Replaced,
  type TaskRow,
  type WebhookRow,
} from '@batonjs/store/adapter';
import type { WantedTask } from '@batonjs/store/rules';
import { taskOfSql, webhookOfSql } from '@batonjs/store/sql';
import { readTaskColumns } from '../database/columns.ts';
import type { DatabaseRow } from '../database/database.ts';
import { keyOf } from '../database/keys.ts';
import type { Mode, Search } from '../tables/searches.ts';

/** A task by its name, under the key of its rows. */
export interface NamedTask {
  readonly key: string;
  readonly onceKey: string | undefined;
}

export const named = ({ scope, taskId, once }: WantedTask): NamedTask => ({
  key: keyOf(scope, taskId),
  onceKey: once === undefined ? undefined : keyOf(once),
});

const onceName = (key: string, onceKey: string): string => `${key} ${onceKey}`;

/** The statements that read tasks by name. None has values: keys are digests, without quotes. */
export class NamedTasks {
  readonly #schema: string;

  constructor(schema: string) {
    this.#schema = schema;
  }

  /** Finds tasks without locks. */
  search(wanted: readonly WantedTask[], withWebhooks: boolean): Search {
    const tasks = wanted.map(named);
    const keys = tasks.map(({ key }) => key);
    const once = tasks.filter(({ onceKey }) => onceKey !== undefined);
    return {
      statements: [
        this.tasks(keys, 'look'),
        ...(withWebhooks ? [this.webhooks(keys, 'look')] : []),
        ...(once.length > 0 ? [this.onceKeys(once)] : []),
      ],
      found: ([rows = [], ...more]) => {
        const known = new ReadTasks();
        known.addRows(rows);
        if (withWebhooks) known.addWebhooks(more.shift() ?? []);
        if (once.length > 0) known.addOnce(more.shift() ?? []);
        return { tasks: tasks.map((task) => known.find(task, withWebhooks)) };
      },
    };
  }

  /** In the order of the keys, in which all transactions lock, so that they do not wait for each other in a circle. */
  tasks(keys: readonly string[], mode: Mode): string {
    return `SELECT ${readTaskColumns} FROM ${this.#schema}.tasks WHERE key = ANY('{${keys}}'::text[])
      ORDER BY key ${mode === 'lock' ? 'FOR UPDATE' : ''}`;
  }

  webhooks(keys: readonly string[], mode: Mode): string {
    return `SELECT * FROM ${this.#schema}.webhooks WHERE key = ANY('{${keys}}'::text[])
      ORDER BY key, config_key ${mode === 'lock' ? 'FOR UPDATE' : ''}`;
  }

  onceKeys(names: readonly NamedTask[]): string {
    const pairs = names.map(({ key, onceKey }) => `('${key}', '${onceKey}')`);
    return `SELECT key, once_key, version FROM ${this.#schema}.once_keys WHERE (key, once_key) IN (${pairs})`;
  }
}

/** The tasks that are known, by name: as they were read, then as the changes of one transaction leave them. */
export class ReadTasks {
  readonly rows = new Map<string, TaskRow>();
  readonly webhooks = new Map<string, WebhookRow[]>();
  readonly #once = new Map<string, number>();

  addRows(rows: readonly DatabaseRow[]): void {
    for (const row of rows) this.rows.set(String(row.key), taskOfSql(row));
  }

  addWebhooks(rows: readonly DatabaseRow[]): void {
    for (const row of rows) {
      const key = String(row.key);
      this.webhooks.set(key, [...(this.webhooks.get(key) ?? []), webhookOfSql(row)]);
    }
  }

  addOnce(rows: readonly DatabaseRow[]): void {
    for (const { key, once_key, version } of rows) this.use(String(key), String(once_key), Number(version));
  }

  use(key: string, onceKey: string, version: number): void {
    this.#once.set(onceName(key, onceKey), version);
  }

  replaceWebhook(change: Replaced<WebhookRow>): void {
    const { scope, taskId } = changedRow(change);
    const key = keyOf(scope, taskId);
    const others = (this.webhooks.get(key) ?? []).filter((webhook) => webhook !== change.before);
    this.webhooks.set(key, change.after ? [...others, change.after] : others);
  }

  find({ key, onceKey }: NamedTask, withWebhooks: boolean): FoundTask {
    return {
      row: this.rows.get(key),
      webhooks: (withWebhooks && this.webhooks.get(key)) || [],
      once: onceKey === undefined ? undefined : this.#once.get(onceName(key, onceKey)),
    };
  }
}
