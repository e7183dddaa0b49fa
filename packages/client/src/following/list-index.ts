/** Finds items by id in a list that grows at its end, or is another list with other items at its end. */
export class ListIndex<Item> {
  readonly #idOf: (item: Item) => string;
  readonly #at = new Map<string, number>();
  #count = 0;
  #last: string | undefined;

  constructor(idOf: (item: Item) => string) {
    this.#idOf = idOf;
  }

  /** The position of the first item with this id; -1 without one. Looks only at items that are new to it. */
  of(items: readonly Item[], id: string): number {
    const last = items[this.#count - 1];
    if (last === undefined || this.#idOf(last) !== this.#last) {
      this.#at.clear();
      this.#count = 0;
    }
    for (const item of items.slice(this.#count)) {
      this.#last = this.#idOf(item);
      if (!this.#at.has(this.#last)) this.#at.set(this.#last, this.#count);
      this.#count += 1;
    }
    return this.#at.get(id) ?? -1;
  }
}
