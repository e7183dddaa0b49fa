import { changedRow, type Replaced, type Wanted, type WebhookRow } from '@batonjs/store/adapter';
import { readyBetween } from '@batonjs/store/rules';
import { Groups } from '../groups.ts';
import { type Log, type Logs, Webhook } from '../logs/log.ts';
import { PriorityQueues } from '../order/priority-queues.ts';

/** Webhooks by when they can be delivered to, and those that were given up. Each lies in the log of its task. */
export function webhooksOf(logs: Logs) {
  const readyQueues = new PriorityQueues<Webhook>();
  const deadQueues = new Groups<string, Webhook>();

  function enter(webhook: Webhook, row: WebhookRow): Webhook {
    webhook.row = row;
    if (row.readyAt !== undefined) readyQueues.set(webhook, row.queue, row.readyAt);
    if (row.dead !== undefined) deadQueues.add(row.queue, webhook);
    return webhook;
  }

  function leave(webhook: Webhook): void {
    readyQueues.delete(webhook);
    deadQueues.delete(webhook.row.queue, webhook);
  }

  return {
    ready(wanted: NonNullable<Wanted['deliveries']>, now: number): WebhookRow[] {
      const [after, until] = readyBetween(wanted, now);
      const { queue, limit, beyondMs } = wanted;
      return readyQueues.due(queue, until, limit, beyondMs === undefined ? undefined : after).map(rowOf);
    },
    dead: (queue: string): WebhookRow[] => Array.from(deadQueues.get(queue), rowOf),
    counts(queue: string): { undelivered: number; dead: number } {
      const dead = deadQueues.get(queue);
      return {
        undelivered: readyQueues.count(queue),
        dead: dead instanceof Set ? dead.size : (dead as readonly Webhook[]).length,
      };
    },
    /** Called after the rows of tasks were written. */
    replace(change: Replaced<WebhookRow>): void {
      const { before, after } = change;
      const log = logs.get(changedRow(change));
      if (!log) return;
      const known = log.webhooks.find(({ row }) => row === before);
      if (known) leave(known);
      const left = log.webhooks.filter((one) => one !== known);
      log.webhooks = after ? [...left, enter(known ?? new Webhook(after), after)] : left;
    },
    /** Called for every log that is deleted. */
    deleted(log: Log): void {
      for (const webhook of log.webhooks) leave(webhook);
    },
  };
}

const rowOf = ({ row }: Webhook): WebhookRow => row;
