import { signsToCodes, withCodes } from './names.ts';

/** What a text says about an expense: "100 USD", "$1,000.50", "Lunch was 20 euros", or only a number or a currency. */
export function readWords(text: string): { amount?: number; currency?: string } {
  const words = separate(text);
  const pairs = words.slice(1).map((word, i) => [words[i]!, word] as const);
  // A number beside a code belongs to it, whatever else the sentence counts.
  const pair =
    pairs.find(([first, second]) => isNumber(first) && currencyOf(second)) ??
    pairs.find(([first, second]) => currencyOf(first) && isNumber(second))?.toReversed();
  const numbers = words.filter(isNumber);
  // Apart from a number only capitals are a code: "pen", "top" and "all" are codes too.
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

/** The number, if it is one that can be counted with; text may have commas between its thousands. */
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
      // Begins where a run of such characters begins: from its middle, a long run would be read once per character.
      .map((word) => word.replace(/^[^\w+.-]+/, '').replace(/(?<!\W)\W+$/, ''))
      .filter((word) => word !== ''),
    isNumber,
  );
