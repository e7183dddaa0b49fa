import { changedRow, type Replaced, type Wanted, type WebhookRow } from '@batonjs/store/adapter';
import { readyBetween } from '@batonjs/store/rules';
import { Groups } from '../groups.ts';
import { type Log, type Logs, Webhook } from '../logs/log.ts';
import { PriorityQueues } from '../order/priority-queues.ts';

/** Webhooks by when they can be delivered to, and those that were given up. Each lies in the log of its task. */
export class Webhooks {
  readonly #logs: Logs;
  readonly #ready = new PriorityQueues<Webhook>();
  readonly #dead = new Groups<string, Webhook>();

  constructor(logs: Logs) {
    this.#logs = logs;
  }

  ready(wanted: NonNullable<Wanted['deliveries']>, now: number): WebhookRow[] {
    const [after, until] = readyBetween(wanted, now);
    const { queue, limit, beyondMs } = wanted;
    return this.#ready.due(queue, until, limit, beyondMs === undefined ? undefined : after).map(rowOf);
  }

  dead(queue: string): WebhookRow[] {
    return Array.from(this.#dead.get(queue), rowOf);
  }

  counts(queue: string): { undelivered: number; dead: number } {
    const dead = this.#dead.get(queue);
    return {
      undelivered: this.#ready.count(queue),
      dead: dead instanceof Set ? dead.size : (dead as readonly Webhook[]).length,
    };
  }

  /** Called after the rows of tasks were written. */
  replace(change: Replaced<WebhookRow>): void {
    const { before, after } = change;
    const log = this.#logs.get(changedRow(change));
    if (!log) return;
    const known = log.webhooks.find(({ row }) => row === before);
    if (known) this.#leave(known);
    const left = log.webhooks.filter((one) => one !== known);
    log.webhooks = after ? [...left, this.#enter(known ?? new Webhook(after), after)] : left;
  }

  /** Called for every log that is deleted. */
  deleted(log: Log): void {
    for (const webhook of log.webhooks) this.#leave(webhook);
  }

  #enter(webhook: Webhook, row: WebhookRow): Webhook {
    webhook.row = row;
    if (row.readyAt !== undefined) this.#ready.set(webhook, row.queue, row.readyAt);
    if (row.dead !== undefined) this.#dead.add(row.queue, webhook);
    return webhook;
  }

  #leave(webhook: Webhook): void {
    this.#ready.delete(webhook);
    this.#dead.delete(webhook.row.queue, webhook);
  }
}

const rowOf = ({ row }: Webhook): WebhookRow => row;
