import { remember } from '@batonjs/protocol/bounded-map';
/** Remembers the ids of handled deliveries. Several receiving processes need an implementation that they share. */
export interface SeenDeliveries {
  has(id: string): boolean | Promise<boolean>;
  add(id: string): void | Promise<void>;
}

/** Remembers the latest `limit` deliveries in the memory of this process. */
export function seenDeliveries(limit = 10_000): SeenDeliveries {
  const seen = new Map<string, true>();
  return {
    has: (id) => seen.has(id),
    add(id) {
      remember(seen, id, true, limit);
    },
  };
}
