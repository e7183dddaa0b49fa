import { weigh } from '@batonjs/lifecycle/internals';
import type { StoredFact } from '@batonjs/store';
import type { StreamEvent } from './stream-event.ts';

const maxFacts = 512;
const maxWeight = 500_000;

/**
 * The newest facts of a log, so that those who follow closely need not read them again. Bounded by number and by the
 * (estimated) size of what they hold: who lags further behind reads the store.
 */
export class RecentFacts {
  #facts: StoredFact[] = [];
  #events: (StreamEvent | undefined)[] = [];
  #weight = 0;

  push(stored: StoredFact): void {
    this.#facts.push(stored);
    this.#weight += weigh(stored.fact);
    if (this.#facts.length <= maxFacts && this.#weight <= maxWeight) return;
    // Half at once, so that dropping is cheap on average.
    const kept = this.#facts.length > 1 ? this.#facts.slice(Math.ceil(this.#facts.length / 2)) : [];
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

  /** What `make` makes of a fact: of one that is kept, once for all who ask. */
  eventOf(
    stored: StoredFact,
    make: (stored: StoredFact) => StreamEvent | undefined,
  ): StreamEvent | undefined {
    const n = stored.version - (this.#facts[0]?.version ?? 0);
    if (this.#facts[n] !== stored) return make(stored);
    this.#events[n] ??= make(stored);
    return this.#events[n];
  }
}
