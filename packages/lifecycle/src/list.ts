/**
 * A list that only grows. Appending shares the items with the list it came from and costs the same however
 * long the list is; the older list still sees only its own items.
 */
export interface List<T> {
  readonly items: readonly T[];
  readonly length: number;
}

export const emptyList: List<never> = { items: [], length: 0 };

/** The list with one more item. */
export function append<T>(list: List<T>, item: T): List<T> {
  // Another list appended to the shared items already, so this list continues on a copy.
  const items = (
    list.length === 0 ? [] : list.items.length === list.length ? list.items : list.items.slice(0, list.length)
  ) as T[];
  items.push(item);
  return { items, length: items.length };
}

/** The items as an array of their own. */
export const toArray = <T>(list: List<T>): T[] => list.items.slice(0, list.length);

/** A list of these items, on an array of its own. */
export const toList = <T>(items: readonly T[]): List<T> => ({ items: [...items], length: items.length });
