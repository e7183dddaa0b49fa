import assert from 'node:assert/strict';

/** The value. Fails if it is missing: there is no `what`. */
export function present<T>(value: T | undefined, what: string): T {
  assert.ok(value !== undefined, `There is no ${what}`);
  return value;
}

/** The element at an index. Fails if the list is too short. */
export const nth = <T>(list: readonly T[], index: number): T =>
  present(list[index], `element ${index} in a list of ${list.length}`);
