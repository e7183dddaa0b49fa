import { SortedList } from './sorted-list.ts';

/** An item and when it is due. */
interface Place<Item> {
  readonly item: Item;
  readonly queue: string;
  readonly at: number;
  readonly order: number;
}

/** An item that is due, and for how long. */
export interface Due<Item> {
  readonly item: Item;
  readonly forMs: number;
}

const earlierFirst = (a: Place<unknown>, b: Place<unknown>): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.order - b.order;

/** Items by when they are due in a queue, of equals in the order they came. */
export class Schedule<Item> {
  readonly #queues = new Map<string, SortedList<Place<Item>>>();
  readonly #places = new Map<Item, Place<Item>>();
  #order = 0;

  /** Makes the item due at that time of one clock and at no other. */
  set(item: Item, queue: string, at: number): void {
    this.delete(item);
    const place = { item, queue, at, order: ++this.#order };
    const list = this.#queues.get(queue) ?? new SortedList<Place<Item>>(earlierFirst);
    list.add(place);
    this.#queues.set(queue, list);
    this.#places.set(item, place);
  }

  delete(item: Item): void {
    const place = this.#places.get(item);
    if (!place) return;
    const list = this.#queues.get(place.queue);
    list?.remove(place);
    if (list?.length === 0) this.#queues.delete(place.queue);
    this.#places.delete(item);
  }

  /** All items of a queue, the earliest first. */
  *items(queue: string): Generator<Item> {
    for (const { item } of this.#queues.get(queue)?.ascending() ?? []) yield item;
  }

  /** Up to `limit` items that are due by now, the longest due first. */
  due(queue: string, now: number, limit: number): Due<Item>[] {
    const due: Due<Item>[] = [];
    for (const { item, at } of this.#queues.get(queue)?.ascending() ?? []) {
      if (at > now || due.length >= limit) break;
      due.push({ item, forMs: now - at });
    }
    return due;
  }
}
