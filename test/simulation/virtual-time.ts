interface Event {
  readonly at: number;
  /** Decides between events of the same millisecond. */
  readonly order: number;
  run: (() => void) | undefined;
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/**
 * Time that passes only from event to event. What an event sets in motion comes to rest before the next one: a program
 * that waits for nothing else does the same in every run.
 */
export class VirtualTime {
  now = Date.UTC(2026, 0, 1);
  /** How many events there were. */
  events = 0;
  readonly #random: () => number;
  /** A binary heap, the earliest first. */
  readonly #queue: Event[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Runs something later. Chance decides the order of tasks due at the same time, unless `order` does. */
  schedule(ms: number, run: () => void, order = this.#random()): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), order, run };
    if (Number.isFinite(event.at)) this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(ms, resolve));
  }

  /** Lets time pass until something is so, but no longer than `ms` milliseconds. Resolves whether it is. */
  async pass(ms: number, until: () => boolean = () => false): Promise<boolean> {
    const end = this.now + ms;
    await settled();
    while (!until()) {
      const next = this.#queue[0];
      if (!next || next.at > end) {
        this.now = end;
        return until();
      }
      this.#pop();
      if (!next.run) continue;
      this.now = next.at;
      this.events++;
      next.run();
      await settled();
    }
    return true;
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let index = queue.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, queue[parent]!)) break;
      queue[index] = queue[parent]!;
      index = parent;
    }
    queue[index] = event;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop();
    if (!last || queue.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && before(queue[child + 1]!, queue[child]!)) child++;
      if (!before(queue[child]!, last)) break;
      queue[index] = queue[child]!;
      index = child;
    }
    queue[index] = last;
  }
}

/** Resolves when nothing waits but for events: the tested code uses promises, and timers only of this time. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
