/** A power of two. */
const parts = 256;

/**
 * A map with string keys, split over 256 maps. A single map copies all its entries when it outgrows its table: with 131,072
 * entries that blocks the process for 15 to 25 ms.
 */
export class LargeMap<Value> {
  readonly #parts: Map<string, Value>[] = Array.from({ length: parts }, () => new Map());

  get size(): number {
    return this.#parts.reduce((sum, { size }) => sum + size, 0);
  }

  get(key: string): Value | undefined {
    return this.#partOf(key).get(key);
  }

  set(key: string, value: Value): void {
    this.#partOf(key).set(key, value);
  }

  delete(key: string): void {
    this.#partOf(key).delete(key);
  }

  /** By the last characters: those of ids differ most. */
  #partOf(key: string): Map<string, Value> {
    const { length } = key;
    const mark =
      (key.charCodeAt(length - 3) * 31 + key.charCodeAt(length - 2)) * 31 + key.charCodeAt(length - 1);
    return this.#parts[mark & (parts - 1)]!;
  }
}
