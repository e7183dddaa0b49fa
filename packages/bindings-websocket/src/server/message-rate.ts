/** How many messages a client may send. */
export interface MessageRate {
  readonly perSecond: number;
  /** The most messages at once, after a pause. */
  readonly burst: number;
}

/** Counts the messages of one connection, or of all connections of one caller. */
export class MessageCount {
  readonly #rate: MessageRate;
  #left: number;
  #at = performance.now();

  constructor(rate: MessageRate) {
    this.#rate = rate;
    this.#left = rate.burst;
  }

  /** Counts one more message. False if it is too many. */
  take(): boolean {
    const { perSecond, burst } = this.#rate;
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

/** The connections of one caller. */
export interface CallerConnections {
  count: number;
  readonly messages: MessageCount;
}

/** Counts the connections of each caller, and the messages on all of them. */
export class Callers {
  readonly #rate: MessageRate;
  readonly #callers = new Map<string, CallerConnections>();

  constructor(rate: MessageRate) {
    this.#rate = rate;
  }

  /** One more connection of a caller. */
  enter(scope: string): CallerConnections {
    const known = this.#callers.get(scope) ?? { count: 0, messages: new MessageCount(this.#rate) };
    known.count += 1;
    this.#callers.set(scope, known);
    return known;
  }

  leave(scope: string): void {
    const known = this.#callers.get(scope);
    if (!known) return;
    known.count -= 1;
    if (known.count === 0) this.#callers.delete(scope);
  }
}
