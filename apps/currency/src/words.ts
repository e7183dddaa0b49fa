import { isCurrency } from './rates.ts';

/** The amounts and currencies that a text mentions. */
export interface Mentions {
  readonly amount?: number;
  /** The currency that stands beside the amount. */
  readonly beside?: string;
  /** The currency after a word such as "to" or 换成. */
  readonly target?: string;
  /** Codes in order, including codes without a rate and unknown codes where a currency would stand. */
  readonly currencies: readonly string[];
}

/** The names of currencies in English and Chinese. Longer names come before names that they contain. */
const names: readonly (readonly [code: string, name: RegExp])[] = [
  ['HKD', /hong kong dollars?|hk\$|港[元币幣]/],
  ['CAD', /canadian dollars?|ca\$|加[拿大]*元|加币/],
  ['AUD', /australian dollars?|au\$|澳[大利亚]*元/],
  ['SGD', /singapore dollars?|s\$|新加坡元|新币/],
  ['USD', /(us |american )?dollars?|us\$|\$|bucks?|美[元金]/],
  ['EUR', /euros?|€|欧元/],
  ['GBP', /(british )?pounds?( sterling)?|£|英[镑鎊]/],
  ['JPY', /(japanese )?yen|日[元圆]/],
  ['CNY', /(chinese )?yuan|renminbi|rmb|¥|人民[币幣]/],
  ['INR', /(indian )?rupees?|₹|(印度)?卢比/],
  ['CHF', /(swiss )?francs?|(瑞士)?法郎/],
  ['SEK', /swedish (krona|kronor|crowns?)|瑞典克朗/],
  ['NOK', /norwegian (krone|kroner|crowns?)|挪威克朗/],
  ['DKK', /danish (krone|kroner|crowns?)|丹麦克朗/],
  ['KRW', /korean won|₩|韩[元币]/],
  ['CNY', /元|块/],
];

const codes = new Set(Intl.supportedValuesOf('currency'));
const number = /[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[+-]?\.\d+/;
const nameOrCode = new RegExp(
  `${names.map(([, { source }]) => source).join('|')}|(?<![a-z])[a-z]{3}(?![a-z])`,
);
const token = new RegExp(`(?<number>${number.source})|(?<name>${nameOrCode.source})`, 'giu');

/** The names alone, for a text that is only a name. */
const wholeNames = names.map(([code, { source }]) => [code, new RegExp(`^(?:${source})$`)] as const);

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly amount?: number;
  readonly currency?: string;
}

/** Finds the amounts and currencies in a text: "10美元等于多少?", "How much is 1,000.50 USD in euros?", "$5 to GBP". */
export function mentionsIn(said: string): Mentions {
  const text = said.normalize('NFKC').replaceAll('−', '-');
  const tokens = Array.from(text.matchAll(token), (match) => toToken(match, text)).filter(
    (each) => each !== undefined,
  );
  const pairs = tokens.flatMap(({ amount }, index) =>
    amount === undefined ? [] : { amount, beside: besideOf(index, tokens, text) },
  );
  const best = pairs.find(({ beside }) => beside) ?? (pairs.length === 1 ? pairs[0] : undefined);
  const money = tokens.filter(({ currency }) => currency !== undefined);
  const target = money.find(({ start }) => targetWord.test(wordBefore(text, start)))?.currency;
  return { ...best, target, currencies: money.flatMap(({ currency }) => currency ?? []) };
}

function toToken({ 0: match, index: start, groups }: RegExpExecArray, text: string): Token | undefined {
  const place = { text: match, start, end: start + match.length };
  if (groups?.number !== undefined) {
    const amount = Number(match.replaceAll(',', ''));
    return Number.isFinite(amount) ? { ...place, amount } : undefined;
  }
  const lower = match.toLowerCase();
  const named = wholeNames.find(([, name]) => name.test(lower));
  if (named) return isWord(place, text) ? { ...place, currency: named[0] } : undefined;
  const code = match.toUpperCase();
  // A code without a rate in small letters may be an ordinary word: "all" and "top".
  const isCode =
    isCurrency(code) ||
    (codes.has(code) && (match === code || afterNumber(place, text))) ||
    (match === code && isWhereCurrenciesStand(place, text));
  return isCode ? { ...place, currency: code } : undefined;
}

/** A name in Latin letters must end at the end of a word: "won" does not match in "wonder". */
const isWord = ({ text: match, start, end }: Token, text: string): boolean =>
  !/[a-z]$/i.test(match) || !(/[a-z]/i.test(text[end] ?? '') || /[a-z]/i.test(text[start - 1] ?? ''));

/** Capitals after an amount or after "to" are read as a currency, even an unknown one: "12 XYZ". */
const isWhereCurrenciesStand = (place: Token, text: string): boolean =>
  afterNumber(place, text) || targetWord.test(wordBefore(text, place.start));

const afterNumber = ({ start }: Token, text: string): boolean => /\d$/.test(wordBefore(text, start));

const targetWord = /(\b(in|into|to)|[成为换換])$/i;

/** The last few characters before an index, without trailing space: no more than the longest word above and its edge. */
function wordBefore(text: string, place: number): string {
  let end = place;
  while (end > 0 && isSpace(text[end - 1]!)) end--;
  return text.slice(Math.max(0, end - 5), end);
}

const isSpace = (character: string): boolean => /\s/.test(character);

/** The currency that only space separates from an amount. One after the amount is preferred to one before it. */
function besideOf(index: number, tokens: readonly Token[], text: string): string | undefined {
  const [before, amount, after] = [tokens[index - 1], tokens[index]!, tokens[index + 1]];
  const isNear = (from: number, to: number) => /^\s*$/.test(text.slice(from, to));
  if (after?.currency && isNear(amount.end, after.start)) return after.currency;
  return before?.currency && isNear(before.end, amount.start) ? before.currency : undefined;
}
