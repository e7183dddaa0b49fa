/** A power of two. */
export const parts = 256;

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

  /** The values of one of the 256 maps. */
  valuesOf(part: number): Iterable<Value> {
    return this.#parts[part]?.values() ?? [];
  }

  /**
   * Ids that begin with the time go to one part for 16 ms, and to the next one then: the table that the entry before
   * went to is still in the caches of the processor. Other keys go by their last characters, which differ most.
   */
  #partOf(key: string): Map<string, Value> {
    const { length } = key;
    if (length === 36 && key.charCodeAt(14) === seven)
      return this.#parts[(digitOf(key.charCodeAt(10)) << 4) | digitOf(key.charCodeAt(11))]!;
    const mark =
      (key.charCodeAt(length - 3) * 31 + key.charCodeAt(length - 2)) * 31 + key.charCodeAt(length - 1);
    return this.#parts[mark & (parts - 1)]!;
  }
}

/** The version in a UUID that begins with the time. */
const seven = 0x37;

/** What a hexadecimal digit stands for, and a number from 0 to 15 for any other character. */
const digitOf = (code: number): number => ((code & 0x40 ? 9 : 0) + code) & 15;
