/** Signs of exactly one currency: "¥" and "kr" have several. Letters before "$" name the country of the dollar. */
const signs: Readonly<Record<string, string>> = {
  $: 'USD',
  us$: 'USD',
  ca$: 'CAD',
  c$: 'CAD',
  au$: 'AUD',
  a$: 'AUD',
  nz$: 'NZD',
  hk$: 'HKD',
  s$: 'SGD',
  '€': 'EUR',
  '£': 'GBP',
  '₹': 'INR',
  '₩': 'KRW',
};

/** A sign with the letters and the plus or minus before it. The letters are bounded, so the time is linear. */
const sign = /(?<![\w$])([+-]?)([a-z]{0,2}\$|[€£₹₩])|[€£₹₩$]/gi;

/** The text with a code in place of each sign: "$100" is "USD 100", "-€5" is "EUR -5". Other dollars stay as they are. */
export const signsToCodes = (text: string): string =>
  text.replace(sign, (match, plusOrMinus: string = '', letters: string = match) => {
    const code = signs[letters.toLowerCase()];
    return code ? ` ${code} ${plusOrMinus}` : match;
  });

/** Names of currencies, each with the words before it that change or repeat its meaning. */
const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dollar: {
    '': 'USD',
    us: 'USD',
    american: 'USD',
    canadian: 'CAD',
    australian: 'AUD',
    singapore: 'SGD',
    kong: 'HKD',
    zealand: 'NZD',
  },
  euro: { '': 'EUR' },
  pound: { '': 'GBP', british: 'GBP' },
  franc: { swiss: 'CHF' },
  yen: { '': 'JPY', japanese: 'JPY' },
};

/**
 * The words with a code in place of each name: "100 dollars" is "100 USD". A name counts after a number, after "in" and
 * alone: "100 Taiwan dollars" is none of the known currencies.
 */
export function withCodes(words: readonly string[], isNumber: (word: string) => boolean): string[] {
  const coded: string[] = [];
  for (const word of words) {
    const meant = names[singular(word)];
    const before = coded.at(-1) ?? '';
    const exact = meant?.[before.toLowerCase()];
    const mayStandAlone = before === '' || before.toLowerCase() === 'in' || isNumber(before);
    if (exact && before !== '') coded.splice(-1, 1, exact);
    else coded.push((mayStandAlone && meant?.['']) || word);
  }
  return coded;
}

const singular = (word: string): string => word.toLowerCase().replace(/s$/, '');
