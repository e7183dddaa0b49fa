const CHUNK = 256;
/** Tasks that run at once end in nearly the order in which they began. */
const NEAR = 8;

/**
 * Items in order, in chunks: adding, removing and counting up to a position cost about the same however many there
 * are. `compare` orders any two items and is 0 only for the same one. `Key` is the part of an item that it compares.
 */
export class SortedList<T extends Key, Key = T> {
  readonly #compare: (a: Key, b: Key) => number;
  readonly #chunks: T[][] = [];
  #length = 0;

  constructor(compare: (a: Key, b: Key) => number) {
    this.#compare = compare;
  }

  get length(): number {
    return this.#length;
  }

  add(item: T): void {
    this.#length++;
    const last = this.#chunks.length - 1;
    const nearEnd = this.#placeNearEnd(item);
    const at = nearEnd === undefined ? Math.min(this.#chunkOf(item), last) : last;
    const chunk = this.#chunks[at];
    if (!chunk || (nearEnd === chunk.length && nearEnd === CHUNK)) {
      this.#chunks.push([item]);
      return;
    }
    if (nearEnd === chunk.length) chunk.push(item);
    else chunk.splice(nearEnd ?? this.#indexIn(chunk, item), 0, item);
    if (chunk.length <= CHUNK) return;
    // Items mostly come in order: cut off the newest only, so that full chunks stay full.
    const cut = at === last ? CHUNK : CHUNK / 2;
    this.#chunks.splice(at + 1, 0, chunk.splice(cut));
  }

  /** The place in the last chunk of an item that comes after all others but a few, as most do. Undefined for others. */
  #placeNearEnd(item: T): number | undefined {
    const chunk = this.#chunks.at(-1);
    if (!chunk) return undefined;
    let place = chunk.length;
    if (this.#compare(chunk[place - 1]!, item) < 0) return place;
    if (this.#compare(chunk[Math.max(0, place - NEAR)]!, item) >= 0) return undefined;
    do place--;
    while (this.#compare(chunk[place - 1]!, item) >= 0);
    return place;
  }

  remove(item: Key): void {
    const at = this.#chunkOf(item);
    const chunk = this.#chunks[at];
    if (!chunk) return;
    const index = this.#indexIn(chunk, item);
    const found = chunk[index];
    if (found === undefined || this.#compare(found, item) !== 0) return;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#length--;
  }

  /** How many items come before this one, whether or not it is in the list. */
  rank(item: Key): number {
    const at = this.#chunkOf(item);
    let before = 0;
    for (let n = 0; n < at; n++) before += this.#chunks[n]?.length ?? 0;
    const chunk = this.#chunks[at];
    return chunk ? before + this.#indexIn(chunk, item) : before;
  }

  /** The first items up to one that is not in a range, at most `limit`; of those that are not before `from`. */
  first(limit: number, isIn: (item: T) => boolean, from?: Key): T[] {
    const found: T[] = [];
    for (const item of this.ascending(from)) {
      if (found.length >= limit || !isIn(item)) break;
      found.push(item);
    }
    return found;
  }

  /** From the first item on, or from the first one that is not before `from`. */
  *ascending(from?: Key): Generator<T> {
    const start = from === undefined ? 0 : this.#chunkOf(from);
    for (let at = start; at < this.#chunks.length; at++) {
      const chunk = this.#chunks[at]!;
      yield* from !== undefined && at === start ? chunk.slice(this.#indexIn(chunk, from)) : chunk;
    }
  }

  /** Backwards from the last item, or from the last one before `below`. */
  *descending(below?: Key): Generator<T> {
    const last = this.#chunks.length - 1;
    const first = below === undefined ? last : Math.min(this.#chunkOf(below), last);
    for (let at = first; at >= 0; at--) {
      const chunk = this.#chunks[at] ?? [];
      const end = below !== undefined && at === first ? this.#indexIn(chunk, below) : chunk.length;
      for (let n = end - 1; n >= 0; n--) {
        const item = chunk[n];
        if (item !== undefined) yield item;
      }
    }
  }

  /** The first chunk that does not end before the item. */
  #chunkOf(item: Key): number {
    return firstIndex(this.#chunks, (chunk) => {
      const last = chunk.at(-1);
      return last !== undefined && this.#compare(last, item) >= 0;
    });
  }

  /** The first place in a chunk that is not before the item. */
  #indexIn(chunk: readonly T[], item: Key): number {
    return firstIndex(chunk, (one) => this.#compare(one, item) >= 0);
  }
}

/** Binary search: the index of the first element for which `holds` is true, or the length of the list. */
function firstIndex<Element>(list: readonly Element[], holds: (element: Element) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = list[middle];
    if (element === undefined || holds(element)) high = middle;
    else low = middle + 1;
  }
  return low;
}
