import type { Fact } from '@batonjs/lifecycle';
import { StoreError } from './store-error.ts';

/** The fact that a store kept as this JSON text. Throws a `StoreError` of code `UNREADABLE` for a text that is no JSON. */
export function parseFact(json: string, version: number): Fact {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new StoreError('UNREADABLE', `The fact at ${version} is no valid JSON`, { cause });
  }
}
