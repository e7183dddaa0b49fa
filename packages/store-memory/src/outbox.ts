import type { Delivery, PushConfig } from '@batonjs/store';
import type { Log, Logs } from './logs/log.ts';
import { Schedule, type Scheduled } from './order/schedule.ts';
import type { Subscribers } from './subscribers.ts';

/** A webhook, and the holder of the right to deliver to it. */
export interface Webhook extends Scheduled {
  push: PushConfig;
  fence: number;
  holder?: string;
  leaseUntil?: number;
}

/** All webhooks, and when each has something to deliver. */
export class Outbox {
  readonly #logs: Logs;
  readonly #subscribers: Subscribers;
  readonly #webhooks = new Map<string, Map<string, Webhook>>();
  readonly #schedule = new Schedule<Webhook>();

  constructor(logs: Logs, subscribers: Subscribers) {
    this.#logs = logs;
    this.#subscribers = subscribers;
  }

  get({ scope, taskId }: { readonly scope: string; readonly taskId: string }): ReadonlyMap<string, Webhook> {
    return this.#webhooks.get(`${scope}\0${taskId}`) ?? new Map();
  }

  all(): Webhook[] {
    return [...this.#webhooks.values()].flatMap((webhooks) => [...webhooks.values()]);
  }

  /** Up to `limit` webhooks that are behind their log, with no delivery under way. */
  due(queue: string, now: number, limit: number): Webhook[] {
    return this.#schedule.due(queue, now, limit).map(({ item }) => item);
  }

  /** Adds a webhook, or schedules one that changed again. */
  put(webhook: Webhook): void {
    const { scope, taskId, id } = webhook.push;
    const key = `${scope}\0${taskId}`;
    this.#webhooks.set(key, (this.#webhooks.get(key) ?? new Map()).set(id, webhook));
    this.#plan(webhook);
  }

  remove(webhook: Webhook): void {
    const { scope, taskId, id } = webhook.push;
    const key = `${scope}\0${taskId}`;
    this.#webhooks.get(key)?.delete(id);
    if (this.#webhooks.get(key)?.size === 0) this.#webhooks.delete(key);
    this.#schedule.delete(webhook);
  }

  /** Called for every log that grew. */
  grew(log: Log): void {
    if (this.#webhooks.size === 0) return;
    for (const webhook of this.get(log).values()) this.#plan(webhook);
  }

  /** Whether a webhook of the log is behind it. */
  isUndelivered(log: Log): boolean {
    return this.#webhooks.size > 0 && [...this.get(log).values()].some((webhook) => this.#isBehind(webhook));
  }

  #plan(webhook: Webhook): void {
    const { push, holder, leaseUntil = 0 } = webhook;
    this.#schedule.delete(webhook);
    if (!this.#isBehind(webhook)) return;
    const retryAt = push.retryAt === undefined ? 0 : Date.parse(push.retryAt);
    this.#schedule.set(webhook, push.queue, Math.max(retryAt, holder === undefined ? 0 : leaseUntil));
    if (holder === undefined) this.#subscribers.notify({ queue: push.queue });
  }

  #isBehind({ push }: Webhook): boolean {
    const version = this.#logs.get(push.scope, push.taskId)?.row.version ?? 0;
    return push.dead === undefined && push.cursor < version;
  }
}

/** Whether the delivery still has the right to this webhook. */
export const isHeld = (webhook: Webhook | undefined, { fence, holder }: Delivery): webhook is Webhook =>
  webhook !== undefined && webhook.fence === fence && webhook.holder === holder;
