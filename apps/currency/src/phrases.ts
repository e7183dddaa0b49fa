import type { Message } from '@batonjs/server';
import { currencies } from './rates.ts';
import type { CompleteRequest, Request } from './request.ts';

/** The agent's sentences in one language. */
export interface Phrases {
  /** Asks for the missing details. */
  questionAbout(request: Request): string;
  conversion(done: CompleteRequest & { readonly result: number }): string;
  readonly tooMuch: string;
}

const english: Phrases = {
  questionAbout({ amount, from, unknown }) {
    if (unknown) return `I have no rate for ${unknown}. Which of these is it: ${currencies.join(', ')}?`;
    if (!from) return 'Which currency should I convert from?';
    if (amount === undefined) return `How much ${from} should I convert?`;
    return `Which currency should I convert ${from} to?`;
  },
  conversion: ({ amount, from, to, result }) => `${amount} ${from} = ${result} ${to}`,
  tooMuch: 'That is more than I can count. What is the amount?',
};

const chinese: Phrases = {
  questionAbout({ amount, from, unknown }) {
    if (unknown) return `我没有${unknown}的汇率。请从以下货币中选择: ${currencies.join(', ')}`;
    if (!from) return '请指定要兑换的货币?';
    if (amount === undefined) return `请指定要兑换多少${from}?`;
    return `请指定要将${from}兑换成哪种货币?`;
  },
  conversion: ({ amount, from, to, result }) => `${amount} ${from} = ${result} ${to}`,
  tooMuch: '金额太大,请重新指定金额?',
};

/** The phrases in the language of the client's first message. */
export function phrasesFor(messages: readonly Message[]): Phrases {
  const parts = messages.find(({ role }) => role === 'ROLE_USER')?.parts ?? [];
  return parts.some((part) => 'text' in part && /\p{Script=Han}/u.test(part.text)) ? chinese : english;
}
