/** Says of each thing once that it happened, though those of the last minute are read again. */
export class Once {
  /** What happened up to here was counted: milliseconds since 1970. */
  #until: number;
  readonly #recent = new Map<string, number>();

  constructor(until: number) {
    this.#until = until;
  }

  /** Whether this was not counted yet. It is from now on. */
  isNew(key: string, at: number): boolean {
    if (at <= this.#until || this.#recent.has(key)) return false;
    this.#recent.set(key, at);
    return true;
  }

  /** All that happened up to here was counted. */
  advance(until: number): void {
    this.#until = Math.max(this.#until, until);
    for (const [key, at] of this.#recent) if (at <= this.#until) this.#recent.delete(key);
  }
}
