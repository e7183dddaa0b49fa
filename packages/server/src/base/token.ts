import { fromBase64Url, toBase64Url } from '#bytes';

/** An opaque text with these values, which clients bring back. */
export const toToken = (...values: readonly unknown[]): string => toBase64Url(JSON.stringify(values));

/** The values in a token; none in a text that is no JSON. */
export function valuesIn(token: string): readonly unknown[] {
  try {
    return [JSON.parse(fromBase64Url(token))].flat();
  } catch {
    return [];
  }
}
