/** Numbers from 0 up to, not including, 1; the same seed gives the same ones. */
export function seeded(seed: string | number): () => number {
  let state = 0x811c9dc5;
  for (const character of String(seed)) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of the items. Throws `TypeError` if there is none. */
export function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new TypeError('There is nothing to pick from');
  return item;
}

/** A whole number from `low` to `high`, both included. */
export const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
