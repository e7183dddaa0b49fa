import { FACT_FORMAT, type MessageReceived } from '@batonjs/lifecycle';
import { memoryStore } from '@batonjs/store-memory';
import { describe, expect, it } from 'vitest';
import { completeSchedule, orderFor, orderForAll } from '../../../src/turns/order/schedule.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const received = (more: Partial<MessageReceived>): MessageReceived => ({
  format: FACT_FORMAT,
  at: at(0),
  type: 'message-received',
  message: { messageId: 'm', contextId: 'c', role: 'ROLE_USER', parts: [{ text: 'Go' }] },
  ...more,
});

const schedule = completeSchedule({ priority: 1_000 }, memoryStore());

describe('the order of a task that is given back', () => {
  it.each<[string, Partial<MessageReceived>[], number]>([
    ['no message', [], 0],
    ['a message without a priority', [{}], 0],
    ['the most urgent of its messages', [{ priority: 2 }, { priority: 7 }, { priority: 3 }], 7_000],
    ['a message whose time has come', [{ priority: 2 }, { priority: 5, notBefore: at(10) }], 5_000],
    ['none of those that wait for their time', [{ priority: 2 }, { priority: 9, notBefore: at(11) }], 2_000],
    ['no message, if all wait for their time', [{ priority: 9, notBefore: at(11) }], 0],
  ])('is that of %s', (_, messages, aheadMs) => {
    expect(orderForAll(schedule, messages.map(received), at(10))).toEqual({ aheadMs });
  });

  it('is none without a schedule', () => {
    expect(orderForAll(undefined, [received({ priority: 9 })], at(10))).toEqual({});
    expect(orderFor(undefined, { priority: 9 })).toEqual({});
  });
});

it('a message has the order of its priority', () => {
  expect(orderFor(schedule, { priority: 3 })).toEqual({ aheadMs: 3_000 });
  expect(orderFor(schedule, {})).toEqual({ aheadMs: 0 });
  expect(orderFor(schedule)).toEqual({ aheadMs: 0 });
  expect(orderFor(completeSchedule({}, memoryStore()), { priority: 1 })).toEqual({ aheadMs: 60_000 });
});
