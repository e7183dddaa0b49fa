interface Share {
  running: number;
  failures: number;
}

/**
 * Shares the deliveries that may run at once among hosts. A host gets no more than is left for all others together: one
 * that never answers holds at most half, two hold two thirds.
 */
export class HostShares {
  readonly #limit: number;
  readonly #shares = new Map<string, Share>();
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many more deliveries may run. */
  get free(): number {
    return this.#limit - this.#running;
  }

  /** Counts one more delivery to the host. Returns false if the host has its share already. */
  enter(host: string): boolean {
    const share = this.#shares.get(host) ?? { running: 0, failures: 0 };
    if (this.free <= 0 || share.running >= this.free) return false;
    this.#shares.set(host, share);
    share.running++;
    this.#running++;
    return true;
  }

  leave(host: string, hasFailed: boolean): void {
    const share = this.#shares.get(host);
    if (!share) return;
    this.#running--;
    share.running--;
    share.failures = hasFailed ? share.failures + 1 : 0;
    if (share.running === 0) this.#shares.delete(host);
  }

  /** Deliveries to a busy host that failed in a row. */
  failures(host: string): number {
    return this.#shares.get(host)?.failures ?? 0;
  }
}
