import { unknownOptions } from '@batonjs/protocol/options';
import { StoreError } from '../port/store-error.ts';

/** Throws a `StoreError` of code `UNUSABLE` for an option that a store does not have. */
export function mustKnowOptions(given: object, known: Readonly<Record<string, true>>): void {
  const [unknown] = unknownOptions(given, known);
  if (unknown) throw new StoreError('UNUSABLE', unknown);
}
