/** How many small items are loaded at once. */
const atOnce = 4;
/** The most bytes of an item that is loaded together with others. */
const light = 256 * 1024;

/**
 * Loads items in order, one by one, or a few at once while they are small. Stop the iteration when enough was loaded:
 * at most a few more than were taken are in memory. `weight` is in bytes.
 */
export async function* loadEach<Item, Loaded extends { readonly weight: number }>(
  items: readonly Item[],
  load: (item: Item) => Promise<Loaded>,
): AsyncGenerator<Loaded, void> {
  let together = 1;
  for (let next = 0; next < items.length; ) {
    const loaded = await Promise.all(items.slice(next, next + together).map(load));
    next += loaded.length;
    together = loaded.every(({ weight }) => weight <= light) ? atOnce : 1;
    yield* loaded;
  }
}
