import { signsToCodes, withCodes } from './names.ts';

/** Finds an amount and a currency in a text: "100 USD", "$1,000.50", "Lunch was 20 euros", or only a number or a currency. */
export function readWords(text: string): { amount?: number; currency?: string } {
  const words = separate(text);
  const pairs = words.slice(1).map((word, i) => [words[i]!, word] as const);
  // A number beside a code belongs to it, even if the sentence has other numbers.
  const pair =
    pairs.find(([first, second]) => isNumber(first) && currencyOf(second)) ??
    pairs.find(([first, second]) => currencyOf(first) && isNumber(second))?.toReversed();
  const numbers = words.filter(isNumber);
  // Without a number beside it, only capitals are a code: "pen", "top" and "all" are codes too.
  const codes = words.filter(
    (word) => currencyOf(word) && (words.length === 1 || word === word.toUpperCase()),
  );
  const number = pair?.[0] ?? (numbers.length === 1 ? numbers[0] : undefined);
  const code = pair?.[1] ?? codes[0];
  return {
    ...(number && { amount: amountOf(number) }),
    ...(code && { currency: currencyOf(code) }),
  };
}

/** The number, if it is finite. A text may have commas between its thousands. */
export function amountOf(value: number | string): number | undefined {
  const text = String(value);
  const plain = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text) ? text.replaceAll(',', '') : text;
  const amount = Number(plain);
  return Number.isFinite(amount) ? amount : undefined;
}

const codes = new Set(Intl.supportedValuesOf('currency'));

/** The currency with this ISO 4217 code in any case, if there is one. */
export function currencyOf(code: string): string | undefined {
  const capitals = code.trim().toUpperCase();
  return codes.has(capitals) ? capitals : undefined;
}

const isNumber = (word: string): boolean => /^[+-]?(\d[\d.,]*|\.\d+)$/.test(word);

/** The words of a text without punctuation around them; "100USD" is two. */
const separate = (text: string): string[] =>
  withCodes(
    signsToCodes(text.replaceAll('−', '-'))
      .replace(/(\d)(?=[a-z]{3}\b)|(?<=\b[a-z]{3})(?=\d)/gi, '$1 ')
      .split(/[\s:;()[\]{}"']+/)
      // Starts at the start of a run of such characters: a match from its middle would read a long run once per character.
      .map((word) => word.replace(/^[^\w+.-]+/, '').replace(/(?<!\W)\W+$/, ''))
      .filter((word) => word !== ''),
    isNumber,
  );
