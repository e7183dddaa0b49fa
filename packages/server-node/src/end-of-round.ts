/** How many requests continue together at most. */
const most = 64;

/** Requests that wait for the end of the same round of the event loop. */
interface Batch {
  readonly over: Promise<void>;
  readonly end: () => void;
  waiting: number;
}

let current: Batch | undefined;

/**
 * Resolves at the end of this round of the event loop, when all its events are handled. All requests that wait for it
 * continue together, so that the same code runs for one after the other while it is in the processor's cache: with many
 * requests at a time, each costs a third less. A single request costs nearly the same, because an event loop with a pending
 * immediate does not sleep. The 64th request ends the wait of all: the first of thousands need not wait until the last
 * one is read, and what they keep in memory still fits into the cache.
 */
export function endOfRound(): Promise<void> {
  current ??= begin();
  const { over } = current;
  if (++current.waiting === most) current.end();
  return over;
}

function begin(): Batch {
  let resolve = (): void => {};
  const over = new Promise<void>((done) => {
    resolve = done;
  });
  const batch: Batch = {
    over,
    end() {
      if (current === batch) current = undefined;
      resolve();
    },
    waiting: 0,
  };
  setImmediate(batch.end);
  return batch;
}
