import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type Frame, FrameReader } from './frame-reader.ts';

/** What all WebSockets of one caller have together. */
interface CallerSockets {
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

/** How many times as many bytes deflated ones may be when they are inflated. */
const mostInflated = 1_032;
/** The close code for a client that breaks a rule of the server. Spec: RFC 6455 §7.4.1. */
const policyViolation = 1_008;

/** The message of a WebSocket that has not arrived as a whole: `ws` holds its bytes until then, inflated. */
export class UnfinishedMessage {
  /** When it began, in milliseconds of `performance.now()`; infinite without one. */
  since = Number.POSITIVE_INFINITY;
  readonly #client: WebSocket;
  readonly #socket: Duplex;
  readonly #caller: CallerSockets;
  readonly #maxBytes: number;
  readonly #frames = new FrameReader((frame) => this.#arrived(frame));
  #bytes = 0;
  /** What the frames of the message hold that have arrived. */
  #arrivedBytes = 0;
  #isDeflated = false;

  /** `maxBytes`: of one message, inflated. */
  constructor(client: WebSocket, socket: Duplex, caller: CallerSockets, maxBytes: number) {
    this.#client = client;
    this.#socket = socket;
    this.#caller = caller;
    this.#maxBytes = maxBytes;
    // Before the listener of `ws`, which emits the message that ends in these bytes.
    socket.prependListener('data', (chunk: Buffer) => this.#hold(chunk));
    client.on('close', () => this.#let(this.#bytes));
  }

  /** Closes the WebSocket, and drops what else arrives: `ws` would hold it until the client takes part. */
  refuse(reason: string): void {
    this.since = Number.POSITIVE_INFINITY;
    this.#client.close(policyViolation, reason);
    this.#socket
      .removeAllListeners('data')
      .on('data', () => {})
      .resume()
      .end();
  }

  #hold(chunk: Buffer): void {
    if (this.#bytes === 0) this.since = performance.now();
    this.#add(chunk.length);
    this.#frames.read(chunk);
    if (this.#caller.bytes > this.#caller.most) this.refuse('Too many unfinished messages');
  }

  #arrived({ bytes, isControl, isFinal, isDeflated }: Frame): void {
    if (isControl) {
      this.#let(bytes);
      return;
    }
    this.#isDeflated ||= isDeflated;
    if (!isFinal) {
      // `ws` inflates each frame when it arrives, and holds what comes of it.
      const most = Math.min(bytes * mostInflated, this.#maxBytes - this.#arrivedBytes);
      const held = this.#isDeflated ? Math.max(bytes, most) : bytes;
      this.#add(held - bytes);
      this.#arrivedBytes += held;
      return;
    }
    const gone = this.#arrivedBytes + bytes;
    this.#arrivedBytes = 0;
    this.#isDeflated = false;
    this.since = performance.now();
    this.#let(gone);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#caller.bytes += bytes;
  }

  #let(bytes: number): void {
    const gone = Math.min(bytes, this.#bytes);
    this.#bytes -= gone;
    this.#caller.bytes -= gone;
    if (this.#bytes === 0) this.since = Number.POSITIVE_INFINITY;
  }
}
