/** Puts an entry after all others. With more than `most`, the one that was put first is deleted, and its value is returned. */
export function remember<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): Value | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size > most)
    for (const [oldest, dropped] of map) {
      map.delete(oldest);
      return dropped;
    }
  return undefined;
}
