import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change, Step, WebhookRow } from '../../src/adapter.ts';
import type { Delivery } from '../../src/index.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import { byName, plannedWebhook, pushConfigOf } from '../../src/rules/task-row.ts';
import {
  claimDeliveriesStep,
  outcomeStep,
  putStep,
  removeStep,
  retryNowStep,
  reviveStep,
} from '../../src/rules/webhook.ts';
import { head, row, webhook } from '../a-row.ts';

const now = 1_000;
const later = '2030-01-01T00:00:00.000Z';
const name = { scope: 's', taskId: 't', id: 'w' };
const closed = { head: head(2, { closed: true }) };

function decide<T>(step: Step<T, never>, task: TaskRow | undefined, webhooks: readonly WebhookRow[]) {
  const decision = step.decide({
    now,
    orderNow: now,
    leaseNow: 5,
    tasks: [{ row: task, webhooks, once: undefined }],
  });
  if ('decide' in decision) throw new TypeError('It looks once');
  return decision as Change<T, never>;
}
const after = (change: Change<unknown, never>) => change.webhooks?.[0]?.after;

describe('when a webhook can be delivered to', () => {
  it.each<[string, WebhookRow, number, number | undefined]>([
    ['it is behind', webhook(), 2, now],
    ['it has heard of everything', webhook({ cursor: 2 }), 2, undefined],
    ['it was given up', webhook({ dead: 'no' }), 2, undefined],
    ['it waits for another attempt', webhook({ retryAt: later }), 2, Date.parse(later)],
    ['a delivery is under way', webhook({ holder: 'h', leaseUntil: 70 }), 2, 70],
    [
      'a delivery is under way that has failed before',
      webhook({ holder: 'h', leaseUntil: 70, retryAt: later }),
      2,
      70,
    ],
    [
      'a delivery is under way and has reached the end',
      webhook({ holder: 'h', leaseUntil: 70, cursor: 2 }),
      2,
      undefined,
    ],
    ['there is no log', webhook(), 0, undefined],
  ])('if %s', (_, one, version, readyAt) => {
    expect(plannedWebhook(one, one, version, now)).toEqual({ ...one, revision: one.revision + 1, readyAt });
  });

  it('no lease is left without a holder', () => {
    expect(plannedWebhook(undefined, webhook({ leaseUntil: 7 }), 2, now)).toMatchObject({
      leaseUntil: undefined,
      revision: now,
    });
  });
});

describe('a webhook that is put', () => {
  const { config } = webhook();
  const push = { ...name, config, protocolVersion: '1.0', queue: 'q', cursor: 0 };
  const task = row();

  it('is new, counted by its task, and due if it is behind', () => {
    const change = decide(putStep(push), task, []);
    expect(change).toMatchObject({ result: true, notify: [{ queue: 'q' }] });
    expect(after(change)).toEqual({ ...webhook(), revision: now, readyAt: now });
    expect(change.tasks).toMatchObject([{ before: task, after: { webhooks: 1, version: 2 } }]);
    expect(decide(putStep({ ...push, cursor: 2 }), task, [])).toMatchObject({ notify: [] });
  });

  it('may come before its task, of which it is then all there is', () => {
    const change = decide(putStep(push), undefined, []);
    expect(change.tasks).toMatchObject([
      {
        before: undefined,
        after: { version: 0, head: undefined, lastAt: '', webhooks: 1, wanted: false, fence: 0 },
      },
    ]);
    expect([after(change)!.readyAt, change.notify]).toEqual([undefined, []]);
  });

  it('replaces the one of its id, keeps the cursor that is further, and fences its delivery', () => {
    const known = webhook({ cursor: 1, attempts: 3, retryAt: later, dead: 'no', fence: 4, holder: 'h' });
    const change = decide(putStep({ ...push, queue: 'p' }, 1), row({ webhooks: 1 }), [known]);
    expect(after(change)).toMatchObject({
      ...{
        cursor: 1,
        attempts: 0,
        retryAt: undefined,
        dead: undefined,
        fence: 5,
        holder: undefined,
        queue: 'p',
      },
    });
    expect([change.result, change.tasks, change.notify]).toEqual([true, undefined, [{ queue: 'p' }]]);
    const further = decide(putStep({ ...push, cursor: 2 }), row({ webhooks: 1 }), [known]);
    expect(after(further)!.cursor).toBe(2);
  });

  it('is refused beyond as many as a task may have', () => {
    const others = [webhook({ id: 'a' }), webhook({ id: 'b' })];
    expect(decide(putStep(push, 2), row({ webhooks: 2 }), others)).toEqual({ result: false });
    expect(decide(putStep(push, 3), row({ webhooks: 2 }), others).result).toBe(true);
  });

  it('keeps a log from being deleted that it has not heard of', () => {
    const ended = row(closed);
    expect(ended.endedAt).toBeDefined();
    expect(decide(putStep(push), ended, []).tasks![0]!.after!.endedAt).toBeUndefined();
    expect(decide(putStep({ ...push, cursor: 2 }), ended, []).tasks![0]!.after!.endedAt).toBe(ended.endedAt);
  });
});

describe('a webhook that is removed', () => {
  it('is counted no more, and may be all that kept a log', () => {
    const gone = webhook();
    const ended = row({ ...closed, webhooks: 2 }, true);
    const change = decide(removeStep(name), ended, [gone, webhook({ id: 'x', cursor: 2 })]);
    expect(change).toMatchObject({
      result: true,
      webhooks: [{ before: gone, after: undefined }],
      notify: [],
    });
    expect(change.tasks![0]!.after).toMatchObject({ webhooks: 1, endedAt: Date.parse(head(2).statusAt) });
  });

  it('is the last one of a log, which stays', () => {
    const [write] = decide(removeStep(name), row({ webhooks: 1 }), [webhook()]).tasks!;
    expect(write!.after).toMatchObject({ version: 2, webhooks: 0, endedAt: undefined });
  });

  it('takes the row of a task with it that never began', () => {
    const empty = row({ version: 0, head: undefined, queue: undefined, webhooks: 1 });
    expect(decide(removeStep(name), empty, [webhook()]).tasks).toEqual([{ before: empty, after: undefined }]);
  });

  it('may not be there', () => {
    expect(decide(removeStep(name), row(), [webhook({ id: 'x' })])).toEqual({ result: false });
    expect(decide(removeStep(name), undefined, [])).toEqual({ result: false });
  });
});

describe('the outcome of a delivery', () => {
  const held = webhook({ fence: 2, holder: 'h', leaseUntil: now + 50, attempts: 3, retryAt: later });
  const delivery: Delivery = { push: pushConfigOf(held), holder: 'h', fence: 2 };
  const free = { holder: undefined, leaseUntil: undefined, fence: 2 };
  const task = row({ webhooks: 1 });

  it.each<[string, Parameters<typeof outcomeStep>[1], Partial<WebhookRow>]>([
    [
      'delivered in part',
      { cursor: 1 },
      { ...free, cursor: 1, attempts: 0, retryAt: undefined, readyAt: now },
    ],
    ['delivered', { cursor: 2 }, { ...free, cursor: 2, attempts: 0, retryAt: undefined, readyAt: undefined }],
    [
      'delivered, and kept for the next fact',
      { cursor: 1, keep: { ttlMs: 70 } },
      { holder: 'h', fence: 2, cursor: 1, attempts: 0, leaseUntil: now + 70, readyAt: now + 70 },
    ],
    [
      'failed',
      { retryAt: later, attempts: 4 },
      { ...free, cursor: 0, attempts: 4, retryAt: later, readyAt: Date.parse(later) },
    ],
    ['given up', { dead: 'no' }, { ...free, cursor: 0, dead: 'no', readyAt: undefined }],
  ])('%s', (_, outcome, changes) => {
    const change = decide(outcomeStep(delivery, outcome), task, [held]);
    expect(change.result).toBe(true);
    expect(after(change)).toMatchObject(changes);
    const isDue = changes.readyAt === now && changes.holder === undefined;
    expect(change.notify).toEqual(isDue ? [{ queue: 'q' }] : []);
  });

  it.each<[string, Partial<Delivery>]>([
    ['another holder', { holder: 'x' }],
    ['another fence', { fence: 3 }],
    ['another webhook', { push: { ...delivery.push, id: 'x' } }],
  ])('is lost to %s', (_, more) => {
    expect(decide(outcomeStep({ ...delivery, ...more }, { cursor: 2 }), task, [held])).toEqual({
      result: false,
    });
  });

  it('lets an ended log be deleted once the last webhook has heard of it, or was given up', () => {
    const ended = row({ ...closed, webhooks: 2 }, true);
    const other = webhook({ id: 'x' });
    const endedAt = (outcome: Parameters<typeof outcomeStep>[1], others: readonly WebhookRow[]) =>
      decide(outcomeStep(delivery, outcome), ended, [held, ...others]).tasks?.[0]?.after?.endedAt;
    const at = Date.parse(head(2).statusAt);
    expect(endedAt({ cursor: 2 }, [])).toBe(at);
    expect(endedAt({ dead: 'no' }, [{ ...other, cursor: 2 }])).toBe(at);
    expect(endedAt({ cursor: 2 }, [other])).toBeUndefined();
    expect(endedAt({ cursor: 1 }, [])).toBeUndefined();
  });
});

describe('webhooks that wait for another attempt', () => {
  it('are due at once, and keep count; others are left alone', () => {
    const waits = webhook({ retryAt: later, attempts: 3 });
    const others = [
      webhook({ id: 'dead', retryAt: later, dead: 'no' }),
      webhook({ id: 'held', retryAt: later, holder: 'h', leaseUntil: 9 }),
      webhook({ id: 'idle' }),
      webhook({ id: 'unnamed', retryAt: later }),
    ];
    const named = ['w', 'dead', 'held', 'idle', 'gone'].map((id) => ({ ...name, id }));
    const change = decide(retryNowStep(named), row(), [waits, ...others]);
    expect(change.webhooks!.length).toBe(1);
    expect(after(change)).toMatchObject({ id: 'w', retryAt: undefined, attempts: 3, readyAt: now });
    expect(change.notify).toEqual([{ queue: 'q' }]);
    expect(decide(retryNowStep(named), row(), others).webhooks).toBeUndefined();
    expect(retryNowStep([name, { ...name, id: 'x' }, { ...name, taskId: 'u' }]).wanted.tasks).toEqual([
      { scope: 's', taskId: 't' },
      { scope: 's', taskId: 'u' },
    ]);
  });
});

describe('a webhook that was given up', () => {
  it('is tried again from its cursor; others are not', () => {
    const dead = webhook({ dead: 'no', attempts: 9, retryAt: later });
    const change = decide(reviveStep(name), row({ webhooks: 1 }), [dead]);
    expect(after(change)).toMatchObject({ dead: undefined, attempts: 0, retryAt: undefined, readyAt: now });
    expect([change.result, change.notify]).toEqual([true, [{ queue: 'q' }]]);
    expect(decide(reviveStep(name), row(), [webhook()])).toEqual({ result: false });
  });
});

describe('a claim of deliveries', () => {
  const step = claimDeliveriesStep({ queue: 'q', holder: 'h', ttlMs: 70, limit: 3 });

  it('gives each webhook a new fence, and holds it', () => {
    const one = webhook({ fence: 4, retryAt: later, attempts: 2 });
    const change = step.decide({ now, orderNow: now, leaseNow: 5, deliveries: [one] });
    if ('decide' in change) throw new TypeError('It looks once');
    expect(step.wanted).toEqual({ deliveries: { queue: 'q', limit: 3 } });
    expect(after(change)).toMatchObject({ fence: 5, holder: 'h', leaseUntil: now + 70, readyAt: now + 70 });
    const push = { ...pushConfigOf(one), retryAt: later, attempts: 2 };
    expect(change.result).toEqual([{ push, holder: 'h', fence: 5 }]);
    expect(Object.keys(pushConfigOf(webhook()))).toEqual([
      ...['scope', 'taskId', 'id', 'config', 'protocolVersion', 'queue', 'cursor', 'attempts'],
    ]);
  });

  it('of nothing writes nothing', () => {
    expect(step.decide({ now, orderNow: now, leaseNow: 5, deliveries: [] })).toEqual({ result: [] });
  });
});

it('a delivery is never lost: whatever happens to a webhook, it is due, held, postponed, given up, or up to date', () => {
  const outcome = fc.oneof(
    fc.record({ cursor: fc.nat(3) }),
    fc.record({ cursor: fc.nat(3), keep: fc.constant({ ttlMs: 5 }) }),
    fc.record({ retryAt: fc.constant(later), attempts: fc.nat(3) }),
    fc.record({ dead: fc.constant('no') }),
  );
  const action = fc.oneof(
    fc.constant('claim' as const),
    fc.constant('revive' as const),
    fc.constant('retry' as const),
    outcome,
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 12 }), (actions) => {
      const task = row({ version: 3, head: head(3), webhooks: 1 });
      let one = plannedWebhook(undefined, webhook(), 3, now);
      for (const act of actions) {
        const { holder = '', fence } = one;
        const step: Step<unknown, never> =
          act === 'revive'
            ? reviveStep(name)
            : act === 'retry'
              ? retryNowStep([name])
              : act === 'claim'
                ? claimDeliveriesStep({ queue: 'q', holder: 'h', ttlMs: 5, limit: 1 })
                : outcomeStep({ push: pushConfigOf(one), holder, fence }, act);
        const isReady = one.readyAt !== undefined && one.readyAt <= now;
        const found = {
          now,
          orderNow: now,
          leaseNow: 0,
          tasks: [{ row: task, webhooks: [one], once: undefined }],
        };
        const change = step.decide({ ...found, deliveries: isReady ? [one] : [] });
        if ('decide' in change) throw new TypeError('It looks once');
        const next = after(change as Change<unknown, never>) ?? one;
        expect(next.fence).toBeGreaterThanOrEqual(one.fence);
        one = next;
        const isBehind = one.dead === undefined && one.cursor < 3;
        expect(one.readyAt !== undefined).toBe(isBehind);
        expect(one.leaseUntil !== undefined).toBe(one.holder !== undefined);
      }
    }),
  );
});

it('webhooks are ordered by scope, task and id', () => {
  const named = [
    ['b', 'a', 'a'],
    ['a', 'b', 'a'],
    ['a', 'a', 'b'],
    ['a', 'a', 'a'],
  ].map(([scope = '', taskId = '', id = '']) => ({ scope, taskId, id }));
  expect([...named].sort(byName)).toEqual(named.toReversed());
  expect(byName(named[0]!, { ...named[0]! })).toBe(0);
  expect([byName(named[0]!, named[1]!), byName(named[1]!, named[0]!)]).toEqual([1, -1]);
});
