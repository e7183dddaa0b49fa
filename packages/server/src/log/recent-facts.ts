import type { SharedJson } from '@batonjs/bindings';
import { weigh } from '@batonjs/lifecycle/internals';
import type { StoredFact } from '@batonjs/store';

/** One event of a stream with the position a client may resume after. */
export interface StreamEvent {
  /** As in SSE `id` and `Last-Event-ID`. */
  readonly id: string;
  /** A `StreamResponse`. */
  readonly event: SharedJson;
  /** The stream ends after it. */
  readonly isLast?: boolean;
}

const maxFacts = 512;
const maxWeight = 500_000;

/**
 * The newest facts of a log, so that followers need not read them from the store. Bounded by their number (512) and by
 * their estimated size in memory (500,000 bytes): a follower that lags further behind reads the store.
 */
export class RecentFacts {
  #facts: StoredFact[] = [];
  #events: (StreamEvent | undefined)[] = [];
  #weight = 0;

  /** `weight`: that of the fact, where it is known. */
  push(stored: StoredFact, weight: number = weigh(stored.fact)): void {
    this.#facts.push(stored);
    this.#weight += weight;
    if (this.#facts.length <= maxFacts && this.#weight <= maxWeight) return;
    // Drops half at once, so that dropping is cheap on average.
    const kept = this.#facts.slice(Math.ceil(this.#facts.length / 2));
    this.#facts = kept;
    this.#events = [];
    this.#weight = kept.reduce((sum, { fact }) => sum + weigh(fact), 0);
  }

  /** The facts after this position, or undefined if some of them are not kept. */
  after(version: number): readonly StoredFact[] | undefined {
    const first = this.#facts[0]?.version;
    if (first === undefined || version + 1 < first) return undefined;
    return this.#facts.slice(version + 1 - first);
  }

  /** The event that `make` makes of a fact. All followers share the event of a fact that is kept here. */
  shared(stored: StoredFact, make: () => StreamEvent | undefined): StreamEvent | undefined {
    const index = stored.version - (this.#facts[0]?.version ?? 0);
    if (this.#facts[index] !== stored) return make();
    this.#events[index] ??= make();
    return this.#events[index];
  }
}
