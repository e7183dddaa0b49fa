import { SortedList } from './sorted-list.ts';

/** An item and when it is due. */
interface Place<Item> {
  readonly owner: object;
  readonly item: Item;
  readonly queue: string;
  readonly at: number;
  readonly order: number;
}

/**
 * An item that is in at most one of them, and keeps its place itself. Not a map of places: the tables of a map whose
 * entries come and go stay in memory until the next full collection.
 */
export interface Queued {
  queued: Place<unknown> | undefined;
}

const earlierFirst = (a: Place<unknown>, b: Place<unknown>): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : a.order - b.order;

/** Items by when they are due in a queue, of equals in the order they came. */
export class PriorityQueues<Item extends Queued> {
  readonly #queues = new Map<string, SortedList<Place<Item>, Place<unknown>>>();
  #order = 0;

  /** Makes the item due at that time of one clock and at no other. It must be in no others. */
  set(item: Item, queue: string, at: number): void {
    this.delete(item);
    const place: Place<Item> = { owner: this, item, queue, at, order: ++this.#order };
    const known = this.#queues.get(queue);
    const list = known ?? new SortedList<Place<Item>, Place<unknown>>(earlierFirst);
    list.add(place);
    if (!known) this.#queues.set(queue, list);
    item.queued = place;
  }

  delete(item: Item): void {
    const place = item.queued;
    if (place?.owner !== this) return;
    const list = this.#queues.get(place.queue);
    list?.remove(place);
    if (list?.length === 0) this.#queues.delete(place.queue);
    item.queued = undefined;
  }

  /** All items of a queue, the earliest first. */
  *items(queue: string): Generator<Item> {
    for (const { item } of this.#queues.get(queue)?.ascending() ?? []) yield item;
  }

  /** How many items of a queue there are. */
  count(queue: string): number {
    return this.#queues.get(queue)?.length ?? 0;
  }

  /** When the earliest item of a queue is due; undefined without items. */
  first(queue: string): number | undefined {
    return this.#queues.get(queue)?.first(1, () => true)[0]?.at;
  }

  /** Up to `limit` items that are due by then, and after `after`; the longest due first. */
  due(queue: string, until: number, limit: number, after?: number): Item[] {
    const from =
      after === undefined ? undefined : { owner: this, item: undefined, queue, at: after, order: Infinity };
    const due = this.#queues.get(queue)?.first(limit, ({ at }) => at <= until, from) ?? [];
    return due.map(({ item }) => item);
  }
}
