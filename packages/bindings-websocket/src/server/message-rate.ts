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
