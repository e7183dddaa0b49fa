/** What all WebSockets of one caller have together. */
export interface CallerSockets {
  sockets: number;
  /** Bytes of messages that have not arrived as a whole. */
  bytes: number;
  /** The most of these bytes. */
  readonly most: number;
}

/** Counts the WebSockets of each caller. */
export class Callers {
  readonly #most: { readonly sockets: number; readonly bytes: number };
  readonly #callers = new Map<string, CallerSockets>();

  constructor(most: { readonly sockets: number; readonly bytes: number }) {
    this.#most = most;
  }

  /** One more WebSocket of a caller. Undefined if that is too many. */
  enter(caller: string): CallerSockets | undefined {
    const known = this.#callers.get(caller) ?? { sockets: 0, bytes: 0, most: this.#most.bytes };
    if (known.sockets >= this.#most.sockets) return undefined;
    known.sockets += 1;
    this.#callers.set(caller, known);
    return known;
  }

  leave(caller: string): void {
    const known = this.#callers.get(caller);
    if (!known) return;
    known.sockets -= 1;
    if (known.sockets === 0) this.#callers.delete(caller);
  }
}
