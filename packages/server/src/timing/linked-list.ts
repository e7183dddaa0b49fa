/** The place of an item in a list. */
export interface Place<T> {
  /** Undefined once it was removed. */
  item: T | undefined;
  before: Place<T> | undefined;
  after: Place<T> | undefined;
}

/**
 * Items that come and go all the time, in the order they came. Not a `Set` or a `Map`: in V8, a hash table that was outgrown
 * points to its successor, so that once one of them is old, everything that ever stood in a later one outlives its use until
 * the next full collection. What is removed from this list leads nowhere.
 */
export class LinkedList<T> implements Iterable<T> {
  #first: Place<T> | undefined;
  #last: Place<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  /** Adds an item at the end. */
  add(item: T): Place<T> {
    const place: Place<T> = { item, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = place;
    else this.#first = place;
    this.#last = place;
    this.#size++;
    return place;
  }

  /** Removes an item; does nothing for one that was removed before. */
  remove(place: Place<T>): void {
    if (place.item === undefined) return;
    const { before, after } = place;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    place.item = undefined;
    place.before = undefined;
    place.after = undefined;
    this.#size--;
  }

  removeFirst(): void {
    if (this.#first) this.remove(this.#first);
  }

  /** The places as they stand now, in order. */
  places(): Place<T>[] {
    const places: Place<T>[] = [];
    for (let place = this.#first; place; place = place.after) places.push(place);
    return places;
  }

  /** The items as they stand now, in order. */
  [Symbol.iterator](): Iterator<T> {
    return this.places()
      .map(({ item }) => item!)
      .values();
  }
}
