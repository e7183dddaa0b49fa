/** An item in a list, with its neighbours. */
export interface ListNode<T> {
  /** Undefined once it was removed. */
  item: T | undefined;
  before: ListNode<T> | undefined;
  after: ListNode<T> | undefined;
}

/**
 * Items that come and go all the time, in the order of arrival. Not a `Set` or a `Map`: in V8, an outgrown hash table
 * points to its successor, so that an old table keeps all items of later ones in memory until the next full collection.
 * A removed node of this list points nowhere.
 */
export class LinkedList<T> implements Iterable<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.item;
  }

  /** Adds an item at the end. */
  add(item: T): ListNode<T> {
    const node: ListNode<T> = { item, before: this.#last, after: undefined };
    if (this.#last) this.#last.after = node;
    else this.#first = node;
    this.#last = node;
    this.#size++;
    return node;
  }

  /** Removes an item; does nothing for one that was removed before. */
  remove(node: ListNode<T>): void {
    if (node.item === undefined) return;
    const { before, after } = node;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    node.item = undefined;
    node.before = undefined;
    node.after = undefined;
    this.#size--;
  }

  removeFirst(): void {
    if (this.#first) this.remove(this.#first);
  }

  /** The nodes at this moment, in order. */
  nodes(): ListNode<T>[] {
    const nodes: ListNode<T>[] = [];
    for (let node = this.#first; node; node = node.after) nodes.push(node);
    return nodes;
  }

  /** The items at this moment, in order. */
  [Symbol.iterator](): Iterator<T> {
    return this.nodes()
      .map(({ item }) => item!)
      .values();
  }
}
