import type { Fact } from '@batonjs/lifecycle';
import type { StoredFact } from '../port/commit.ts';
import { StoreError } from '../port/store-error.ts';

/** Parses a stored fact. Throws a `StoreError` of code `UNREADABLE`, with its position, if the text is not JSON. */
export function parseFact(json: string, version: number): Fact {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new StoreError('UNREADABLE', `The fact at ${version} is no valid JSON`, { cause });
  }
}

/** The fact that `read` returns, for a page; undefined if it is damaged, so that the rest of the page can be read. */
export function listedFact(read: () => StoredFact): StoredFact | undefined {
  try {
    return read();
  } catch (error) {
    if (StoreError.is(error, 'UNREADABLE')) return undefined;
    throw error;
  }
}
