import { type OptionsOf, unknownOptions, withDefaults } from '@batonjs/protocol/options';
import { StoreError } from '../port/commit.ts';

/** The options of a store, with these defaults. Throws a `StoreError` of code `UNUSABLE` for one that it does not have. */
export function completeOptions<Defaults extends object>(
  defaults: Defaults,
  given: OptionsOf<Defaults>,
): Defaults {
  const [unknown] = unknownOptions(given, defaults);
  if (unknown) throw new StoreError('UNUSABLE', unknown);
  return withDefaults(defaults, given);
}
