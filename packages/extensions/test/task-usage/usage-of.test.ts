import type { Task } from '@batonjs/protocol';
import { expect, it } from 'vitest';
import { USAGE, usageOf } from '../../src/client.ts';

const told = (usage: unknown) => usageOf({ metadata: { [USAGE]: usage } } as unknown as Task);
const currencies = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`AA${String.fromCharCode(65 + n)}`, 1]));

it.each([
  { tokens: 0, costs: {} },
  { tokens: 1e15, costs: { USD: 0, EUR: 1e15 } },
  { tokens: 1, costs: currencies(20) },
])('a report is read: %o', (usage) => {
  expect(told({ ...usage, others: usage })).toEqual(usage);
});

it.each([
  undefined,
  null,
  'much',
  { costs: {} },
  ...[-1, 1.5, 1e15 + 1, Number.POSITIVE_INFINITY, Number.NaN, '5', null].flatMap((count) => [
    { tokens: count, costs: {} },
    { tokens: 5, costs: { EUR: 1, USD: count } },
  ]),
  ...['usd', 'USDT', '', '__proto__x'].map((name) => ({ tokens: 5, costs: { [name]: 1 } })),
  { tokens: 5, costs: currencies(21) },
])('what no task can have used is no report: %o', (usage) => {
  expect(told(usage)).toBeUndefined();
});

it('a task without metadata has no report', () => {
  expect(usageOf({ id: 'a', status: { state: 'TASK_STATE_COMPLETED' } } as Task)).toBeUndefined();
});
