import type { Message, Part } from '@batonjs/server';
import { amountOf, currencyOf, readWords } from './words.ts';

/** An expense with the members that are known so far. */
export interface Expense {
  readonly amount?: number;
  /** ISO 4217. */
  readonly currency?: string;
}

/** The number of characters of a text that are read: an expense takes a sentence or two. */
const longestText = 4_000;

/** Reads the expense from the client's messages so far. Later messages override earlier ones. */
export function readExpense(messages: readonly Message[]): Expense {
  const said = messages.filter(({ role }) => role === 'ROLE_USER').flatMap(({ parts }) => parts);
  return Object.assign({}, ...said.map(readPart));
}

function readPart(part: Part): Expense {
  if ('text' in part) return readWords(part.text.slice(0, longestText));
  if (!('data' in part) || typeof part.data !== 'object' || part.data === null) return {};
  const { amount, currency } = part.data as Record<string, unknown>;
  // An invalid value makes the member unknown again: asking twice is better than approving a mistake.
  return {
    ...(amount != null && { amount: typeof amount === 'number' ? amountOf(amount) : undefined }),
    ...(currency != null && { currency: currencyOf(String(currency)) }),
  };
}

/** Asks for the missing members. */
export function questionAbout({ amount, currency }: Expense): string {
  if (amount === undefined && currency === undefined)
    return 'What is the amount, and in which currency? For example: 100 USD';
  return amount === undefined
    ? `What is the amount in ${currency}? A number, for example: 100`
    : `Which currency is the amount of ${amount} in? A code of three letters, for example: USD`;
}
