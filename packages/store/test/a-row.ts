import type { Head } from '@batonjs/lifecycle';
import type { WebhookRow } from '../src/adapter.ts';
import type { TaskRow } from '../src/port/rows.ts';
import { placed, plannedWebhook, type TaskFacts, type WebhookFacts } from '../src/rules/task-row.ts';

/** The time at which the rows of tests were written. */
export const writtenAt = 900;

export const head = (version: number, more: Partial<Head> = {}): Head => ({
  closed: false,
  contextId: 'c',
  version,
  statusAt: '2026-01-01T00:00:00.000Z',
  statusVersion: 1,
  generation: 1,
  turn: 0,
  attempt: 0,
  ...more,
});

/** A task of two facts in queue `q`. */
export const row = (more: Partial<TaskFacts> = {}, isUndelivered = false): TaskRow =>
  placed(
    undefined,
    {
      ...{
        scope: 's',
        taskId: 't',
        version: 2,
        head: head(2),
        lastAt: '2026-01-01T00:00:00.000Z',
        webhooks: 0,
      },
      ...{ queue: 'q', wanted: false, fence: 0, holder: undefined, aheadMs: undefined },
      ...{ leaseUntil: undefined, leasedAt: undefined, ...more },
    },
    isUndelivered,
    { now: writtenAt, orderNow: writtenAt },
  );

/** A webhook that is two facts behind a log of `version` facts. */
export const webhook = (more: Partial<WebhookFacts> = {}, version = 2): WebhookRow =>
  plannedWebhook(
    undefined,
    {
      ...{ scope: 's', taskId: 't', id: 'w', config: { id: 'w', taskId: 't', url: 'https://example.com' } },
      ...{ protocolVersion: '1.0', queue: 'q', cursor: 0, attempts: 0, retryAt: undefined, dead: undefined },
      ...{ fence: 0, holder: undefined, leaseUntil: undefined, ...more },
    },
    version,
    writtenAt,
  );
