import { isCurrency } from './rates.ts';

/** What a text mentions of money. */
export interface Mentions {
  readonly amount?: number;
  /** The currency that stands beside the amount. */
  readonly beside?: string;
  /** The currency after a word such as "to" or 换成. */
  readonly target?: string;
  /** ISO 4217 codes, in order, those that there is no rate for too. */
  readonly currencies: readonly string[];
}

/** What currencies are called besides their codes, in English and Chinese. Longer names come before those they contain. */
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

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly amount?: number;
  readonly currency?: string;
}

/** What a text says about money: "10美元等于多少?", "How much is 1,000.50 USD in euros?", "$5 to GBP". */
export function mentionsIn(said: string): Mentions {
  const text = said.normalize('NFKC').replaceAll('−', '-');
  const tokens = Array.from(text.matchAll(token), (match) => toToken(match, text)).filter(
    (each) => each !== undefined,
  );
  const amounts = tokens.filter(({ amount }) => amount !== undefined);
  const pairs = amounts.map((each) => ({ amount: each.amount, beside: besideOf(each, tokens, text) }));
  const best = pairs.find(({ beside }) => beside) ?? (pairs.length === 1 ? pairs[0] : undefined);
  const money = tokens.filter(({ currency }) => currency !== undefined);
  const target = money.find(({ start }) =>
    /(\b(in|into|to)|[成为換换])\s*$/i.test(text.slice(0, start)),
  )?.currency;
  return { ...best, target, currencies: money.flatMap(({ currency }) => currency ?? []) };
}

function toToken({ 0: match, index: start, groups }: RegExpExecArray, text: string): Token | undefined {
  const place = { text: match, start, end: start + match.length };
  if (groups?.number !== undefined) {
    const amount = Number(match.replaceAll(',', ''));
    return Number.isFinite(amount) ? { ...place, amount } : undefined;
  }
  const lower = match.toLowerCase();
  const named = names.find(([, name]) => new RegExp(`^(?:${name.source})$`).test(lower));
  if (named) return isWord(place, text) ? { ...place, currency: named[0] } : undefined;
  const code = match.toUpperCase();
  // Of codes without a rate, small letters may be a word: "all" and "top".
  const isCode = isCurrency(code) || (codes.has(code) && (match === code || afterNumber(place, text)));
  return isCode ? { ...place, currency: code } : undefined;
}

/** Names in Latin letters end where a word ends: "won" is no part of "wonder". */
const isWord = ({ text: match, start, end }: Token, text: string): boolean =>
  !/[a-z]$/i.test(match) || !(/[a-z]/i.test(text[end] ?? '') || /[a-z]/i.test(text[start - 1] ?? ''));

const afterNumber = ({ start }: Token, text: string): boolean => /\d\s*$/.test(text.slice(0, start));

/** The currency that only space parts from an amount, after it rather than before. */
function besideOf({ start, end }: Token, tokens: readonly Token[], text: string): string | undefined {
  const isNear = (from: number, to: number) => from <= to && /^\s*$/.test(text.slice(from, to));
  const after = tokens.find((other) => other.currency && isNear(end, other.start));
  const before = tokens.find((other) => other.currency && isNear(other.end, start));
  return (after ?? before)?.currency;
}
