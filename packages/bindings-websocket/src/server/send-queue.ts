import type { WebSocket } from 'ws';

/** Bytes that wait in a connection before streams stop to add events, which then wait in their logs. */
const highWater = 1_048_576;

/** Sends the frames of one connection. Several streams share it, each in its turn. */
export class SendQueue {
  readonly #socket: WebSocket;
  /** Those that wait for room, the first first. */
  #waiting: (() => void)[] = [];
  /** The room was given to one that waited, which has not sent its frame yet. */
  #isGiven = false;
  /** When the network last took a frame, in milliseconds of `performance.now()`. */
  takenAt = 0;
  readonly #onTaken = () => {
    this.takenAt = performance.now();
    this.#wake();
  };

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get isFull(): boolean {
    return this.#isGiven || this.#waiting.length > 0 || this.#socket.bufferedAmount > highWater;
  }

  /** Resolves when it is the caller's turn to send one frame, or when the connection is closed. */
  drained(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Does nothing on a connection that is closed. */
  send(frame: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(frame, this.#onTaken);
  }

  /** Lets all go on that wait: the connection is closed. */
  close(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** One at a time: it sends its frame before the next one looks whether there is room. */
  #wake(): void {
    const isFree = !this.#isGiven && this.#socket.bufferedAmount <= highWater;
    if (this.#waiting.length === 0 || !isFree) return;
    this.#isGiven = true;
    this.#waiting.shift()!();
    queueMicrotask(() => {
      this.#isGiven = false;
      this.#wake();
    });
  }
}
