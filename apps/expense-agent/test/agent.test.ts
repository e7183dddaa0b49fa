import type { Part, TaskUpdate } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../test/support/growth.ts';
import { approveExpense } from '../src/index.ts';
import { readWords } from '../src/words.ts';

const expense = (amount: unknown, currency?: unknown): Part[] => [{ data: { amount, currency } as never }];

/** Sends the agent one message after another and returns the results. */
async function outcome(...said: readonly (string | Part[])[]): Promise<readonly TaskUpdate[]> {
  const messages = said.map((content, n) => ({
    messageId: `m-${n}`,
    role: 'ROLE_USER' as const,
    parts: typeof content === 'string' ? [{ text: content }] : content,
  }));
  const { updates } = await runTurn(approveExpense, messages.at(-1)!, { messages: messages.slice(0, -1) });
  return updates;
}

const approved = (money: string) => [
  { status: { state: 'TASK_STATE_WORKING', message: { parts: [{ text: `Checking ${money}` }] } } },
  { artifact: { name: 'result', parts: [{ data: { status: 'approved', message: `Processed ${money}` } }] } },
  { status: { state: 'TASK_STATE_COMPLETED' } },
];

const asked = (question: RegExp) => [
  {
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: expect.stringMatching(question) }] },
    },
  },
];

describe('the expense agent approves', () => {
  it.each<[string | Part[], string]>([
    [expense(100, 'USD'), '100 USD'],
    [expense(0.01, 'usd'), '0.01 USD'],
    ['100 USD', '100 USD'],
    ['100 usd', '100 USD'],
    ['USD 100', '100 USD'],
    ['100USD', '100 USD'],
    ['100.50 EUR', '100.5 EUR'],
    ['1,000,000 JPY', '1000000 JPY'],
    ['2 taxis to the airport, 30 CHF.', '30 CHF'],
    ['Lunch was 20, in EUR', '20 EUR'],
    ['all 20 EUR', '20 EUR'],
    ['$100', '100 USD'],
    ['100$', '100 USD'],
    ['100 €', '100 EUR'],
    ['€1,000.50 for lunch', '1000.5 EUR'],
    ['Lunch ($20)', '20 USD'],
    ['CA$ 30', '30 CAD'],
    ['100 dollars', '100 USD'],
    ['Lunch was 20, in euros.', '20 EUR'],
    ['I paid 1 Pound', '1 GBP'],
    ['100 US dollars', '100 USD'],
    ['100 Canadian dollars', '100 CAD'],
    ['100 Hong Kong dollars', '100 HKD'],
    ['100 swiss francs', '100 CHF'],
    ['{"amount": 100, "currency": "USD"}', '100 USD'],
    [[{ text: 'As attached' }, ...expense(7, 'PLN')], '7 PLN'],
  ])('%j as %s', async (said, money) => {
    expect(await outcome(said)).toMatchObject(approved(money));
  });
});

describe('the expense agent asks', () => {
  it.each<[string | Part[], RegExp]>([
    ['I was in Paris', /amount.*currency/],
    ['100', /^Which currency is the amount of 100 in\?/],
    ['usd', /^What is the amount in USD\?/],
    [expense(100), /currency/],
    [expense(undefined, 'USD'), /amount/],
    [expense('much', 'USD'), /amount in USD/],
    [expense(Number.POSITIVE_INFINITY, 'USD'), /amount in USD/],
    [expense(100, 'Dollars'), /currency/],
    [expense(100, { code: 'USD' }), /currency/],
    ['100 XYZ', /currency/],
    ['NT$100', /amount.*currency/],
    ['¥100', /currency/],
    ['100 Taiwan dollars', /Which currency is the amount of 100 in/],
    ['100 francs', /Which currency/],
    ['dollars', /^What is the amount in USD\?/],
    ['1e5 USD', /amount/],
    ['1.2.3 USD', /amount/],
    ['20 or 30', /amount.*currency/],
    [[{ data: null }], /amount.*currency/],
    [[{ data: [100, 'USD'] }], /amount.*currency/],
    [[{ url: 'https://example.com/receipt.png' }], /amount.*currency/],
  ])('about %j: %s', async (said, question) => {
    expect(await outcome(said)).toMatchObject(asked(question));
  });
});

describe('the expense agent takes an answer', () => {
  it.each<[(string | Part[])[], string]>([
    [['100', 'USD'], '100 USD'],
    [[expense(100), expense(undefined, 'EUR')], '100 EUR'],
    [['USD', expense(100)], '100 USD'],
    [[expense(100), 'usd'], '100 USD'],
    [['I was in Paris', '20', 'EUR'], '20 EUR'],
    [['20', 'no, 30 EUR'], '30 EUR'],
  ])('%j as %s', async (said, money) => {
    expect(await outcome(...said)).toMatchObject(approved(money));
  });

  it('and asks again about what an answer made doubtful', async () => {
    expect(await outcome(expense(100), expense('a lot', 'USD'))).toMatchObject(asked(/amount in USD/));
  });
});

describe('the expense agent fails', () => {
  it.each<string | Part[]>([
    '0 USD',
    '-5 USD',
    '-$5',
    '$-5',
    '-5 €',
    expense(0, 'USD'),
    expense(-100, 'USD'),
  ])('%j', async (said) => {
    const [first, last] = await outcome(said);
    expect(first).toMatchObject({ status: { state: 'TASK_STATE_WORKING' } });
    expect(last).toMatchObject({
      status: {
        state: 'TASK_STATE_FAILED',
        message: {
          parts: [
            { text: 'Amount must be positive' },
            { data: { code: 'INVALID_INPUT', message: 'Amount must be positive' } },
          ],
        },
      },
    });
  });
});

describe('the expense agent reads a text', () => {
  it.each([
    ['amounts', '1 ', ''],
    ['amounts with currencies', '1 USD ', ''],
    ['digits', '1', ''],
    ['thousands', '1,111,', ''],
    ['hyphens before a word', '-', 'a'],
    ['exclamation marks', 'a!', ''],
    ['codes and digits without space', 'usd1', ''],
    ['signs', '$', ''],
    ['signs with letters', 'us$', ''],
    ['letters before a sign', 'u', '$'],
    ['names', 'dollars ', ''],
  ])('of many %s in a time that grows with its length', (_what, piece, end) => {
    const read = (length: number) => void readWords(piece.repeat(length / piece.length) + end);
    expect(growthOf(read, 10_000)).toBeLessThan(8);
  });

  it('up to 4,000 characters', async () => {
    expect(await outcome('100 USD'.padStart(4_000))).toMatchObject(approved('100 USD'));
    expect(await outcome('100 USD'.padStart(4_010))).toMatchObject(asked(/amount/));
  });
});
