/** The date of the rates below. They are fixed, so that the sample needs no network: not for real money. */
export const ratesAsOf = '2025-05-16';

/** The value of one US dollar in each currency. */
const perDollar = {
  USD: 1,
  EUR: 0.8959,
  GBP: 0.7526,
  JPY: 145.62,
  CNY: 7.2098,
  HKD: 7.8136,
  INR: 85.52,
  CHF: 0.8378,
  SEK: 9.7647,
  NOK: 10.3916,
  DKK: 6.683,
  CAD: 1.3968,
  AUD: 1.5612,
  SGD: 1.2986,
  KRW: 1398.6,
} as const;

/** ISO 4217 code of a currency that the agent knows. */
export type Currency = keyof typeof perDollar;

/** The codes of all currencies with a rate. */
export const currencies = Object.keys(perDollar) as readonly Currency[];

/** Whether there is a rate for a code in capitals. */
export const isCurrency = (code: string): code is Currency => Object.hasOwn(perDollar, code);

/** Converts an amount to another currency, rounded to its smallest unit. The result is infinite if it overflows. */
export function convert(amount: number, from: Currency, to: Currency): number {
  const exact = (amount / perDollar[from]) * perDollar[to];
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: to,
  }).resolvedOptions();
  return Number(exact.toFixed(maximumFractionDigits));
}
