import type { Part, TaskUpdate } from '@batonjs/server';
import { runTurn } from '@batonjs/testing';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../test/support/growth.ts';
import { convertMoney } from '../src/index.ts';
import { mentionsIn } from '../src/words.ts';

/** Sends the agent one message after another and returns the results. */
async function outcome(...said: readonly (string | object)[]): Promise<readonly TaskUpdate[]> {
  const messages = said.map((content, n) => ({
    messageId: `m-${n}`,
    role: 'ROLE_USER' as const,
    parts: [typeof content === 'string' ? { text: content } : { data: content }] as Part[],
  }));
  const { updates } = await runTurn(convertMoney, messages.at(-1)!, { messages: messages.slice(0, -1) });
  return updates;
}

const converted = (answer: string) => [
  { artifact: { name: 'conversion', parts: [{ text: answer }, { data: { ratesAsOf: '2025-05-16' } }] } },
  { status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: answer }] } } },
];
const asked = (question: string | RegExp) => [
  {
    status: {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{ text: expect.stringMatching(question) }] },
    },
  },
];

describe('the currency agent converts', () => {
  it.each<[string | object, string]>([
    ['How much is 10 USD in EUR?', '10 USD = 8.96 EUR'],
    ['How many euros are 10 dollars?', '10 USD = 8.96 EUR'],
    ['10 usd to gbp', '10 USD = 7.53 GBP'],
    ['$1,000.50 in yen, please', '1000.5 USD = 145693 JPY'],
    ['convert €5 into swiss francs', '5 EUR = 4.68 CHF'],
    ['from EUR to USD: 100', '100 EUR = 111.62 USD'],
    ['5 canadian dollars in us dollars', '5 CAD = 3.58 USD'],
    ['-5 USD in EUR', '-5 USD = -4.48 EUR'],
    ['10美元等于多少欧元?', '10 USD = 8.96 EUR'],
    ['把１００人民币换成日元', '100 CNY = 2020 JPY'],
    ['I won 10 USD, how much is that in EUR', '10 USD = 8.96 EUR'],
    [{ amount: 10, from: 'usd', to: 'EUR' }, '10 USD = 8.96 EUR'],
    ['{"amount": 10, "from": "USD", "to": "EUR"}', '10 USD = 8.96 EUR'],
  ])('%j: %s', async (said, answer) => {
    expect(await outcome(said)).toMatchObject(converted(answer));
  });
});

describe('the currency agent asks', () => {
  it.each<[string | object, string | RegExp]>([
    ['10美元等于多少?', '请指定要将USD兑换成哪种货币?'],
    ['How much is 10 USD?', 'Which currency should I convert USD to?'],
    ['convert 10 to EUR', 'Which currency should I convert from?'],
    ['Hello', 'Which currency should I convert from?'],
    ['USD to EUR', 'How much USD should I convert?'],
    ['10 USD in PLN', /^I have no rate for PLN\. .*USD.*EUR/],
    ['10美元换成PLN', '我没有PLN的汇率'],
    [`${'9'.repeat(308)}0 KRW in KRW`, /from|to/],
    [{ amount: 1e308, from: 'USD', to: 'KRW' }, /more than I can count/],
    [{ amount: '10', from: 'USD', to: 'EUR' }, 'How much USD should I convert?'],
    [{ amount: 10, from: { code: 'USD' }, to: 'EUR' }, /no rate for/],
    [{ amount: 10, from: '__proto__', to: 'EUR' }, /no rate for/],
    [{}, 'Which currency'],
    [[10, 'USD'], 'Which currency'],
  ])('%j: %s', async (said, question) => {
    expect(await outcome(said)).toMatchObject(asked(question));
  });
});

describe('the currency agent takes answers', () => {
  it.each<[(string | object)[], string]>([
    [['10美元等于多少?', '欧元'], '10 USD = 8.96 EUR'],
    [['How much is 10 USD?', 'in EUR'], '10 USD = 8.96 EUR'],
    [['How much is 10 USD?', { to: 'EUR' }], '10 USD = 8.96 EUR'],
    [['USD to EUR', '10'], '10 USD = 8.96 EUR'],
    [['convert 10 to EUR', 'USD'], '10 USD = 8.96 EUR'],
    [['10 USD in PLN', 'then in EUR'], '10 USD = 8.96 EUR'],
    [['How much is 10 USD?', 'no, 20 GBP', 'EUR'], '20 GBP = 23.81 EUR'],
    [[{ amount: 1e308, from: 'USD', to: 'KRW' }, { amount: 1 }], '1 USD = 1399 KRW'],
  ])('%j: %s', async (said, answer) => {
    expect(await outcome(...said)).toMatchObject(converted(answer));
  });
});

describe('the currency agent reads a text', () => {
  it.each([
    ['amounts', '1 '],
    ['amounts with currencies', '1 USD '],
    ['currencies', 'usd '],
    ['currencies between spaces', `usd${' '.repeat(99)}`],
    ['spaces', ' '],
    ['targets', 'to EUR '],
    ['thousands', '1,111,'],
    ['half names', '加拿'],
    ['words', 'all top '],
  ])('of many %s in a time that grows with its length', (_what, piece) => {
    const read = (length: number) => void mentionsIn(piece.repeat(length / piece.length));
    expect(growthOf(read, 10_000)).toBeLessThan(8);
  });

  it('up to 4,000 characters', async () => {
    const question = '10 USD in EUR';
    const padded = (length: number) => `${question.padStart(length)} ${'1 USD '.repeat(10_000)}`;
    expect(await outcome(padded(4_000))).toMatchObject(converted('10 USD = 8.96 EUR'));
    expect(await outcome(padded(4_001))).toMatchObject(asked('Which currency should I convert USD to?'));
  });
});

describe('the currency agent names a currency that it does not know', () => {
  it.each([
    ['12 XYZ', 'XYZ'],
    ['How much is 12XYZ in EUR?', 'XYZ'],
    ['10 XYZ in EUR', 'XYZ'],
    ['Convert 10 USD to QQQ', 'QQQ'],
    ['10美元换成 QQQ', 'QQQ'],
  ])('%j', async (said, code) => {
    expect(await outcome(said)).toMatchObject([
      {
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { parts: [{ text: expect.stringMatching(`${code}.*USD, EUR`) }] },
        },
      },
    ]);
  });

  it('but not words', () => {
    expect(mentionsIn('I HAVE 10 pcs of it').currencies).toEqual([]);
    expect(mentionsIn('THE PDF says so').currencies).toEqual([]);
  });
});
