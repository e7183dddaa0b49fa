/** A chunk of 48 bytes that says which one it is. */
export const chunkText = (n: number): string =>
  `${String(n).padStart(8, '0')} ${'0123456789'.repeat(4).slice(0, 39)}`;

/** What every contender's agent answers a quote with. */
export const quoteText = '10 USD are 833.20 INR';
