import type { Fact } from '@batonjs/lifecycle';
import { StoreError } from '../port/store-error.ts';

/** Parses a stored fact. Throws a `StoreError` of code `UNREADABLE`, with its position, if the text is not JSON. */
export function parseFact(json: string, version: number): Fact {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new StoreError('UNREADABLE', `The fact at ${version} is no valid JSON`, { cause });
  }
}
