/**
 * A list that only grows. A longer list shares the items of the shorter one, so that appending costs the same for every
 * length. The shorter list still has only its own items.
 */
export interface List<T> {
  readonly items: readonly T[];
  readonly length: number;
}

export const emptyList: List<never> = { items: [], length: 0 };

/** The list with one more item. */
export function append<T>(list: List<T>, item: T): List<T> {
  // Another list appended to the shared items already, so this one continues on a copy.
  const items = (
    list.length === 0 ? [] : list.items.length === list.length ? list.items : list.items.slice(0, list.length)
  ) as T[];
  items.push(item);
  return { items, length: items.length };
}

/** The items in a new array. */
export const toArray = <T>(list: List<T>): T[] => list.items.slice(0, list.length);

/** A list with a copy of the items. */
export const toList = <T>(items: readonly T[]): List<T> => ({ items: [...items], length: items.length });
