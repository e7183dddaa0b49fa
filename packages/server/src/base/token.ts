import { type A2AError, invalidParams } from '@batonjs/protocol/errors';
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

/** Whether a store can be called with it as an id. A forged page token may hold any text. */
export const isStoreId = (id: unknown): id is string =>
  typeof id === 'string' && /^[^\0]{1,1024}$/s.test(id) && id.isWellFormed();

/** The error for a page token that this server did not make for this list. */
export const invalidPageToken = (description: string): A2AError =>
  invalidParams([{ field: 'pageToken', description }]);
