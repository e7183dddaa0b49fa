import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { CallerSockets } from './callers.ts';

/** Bytes of a frame of control besides its payload, as clients send it. Spec: RFC 6455 §5.2, §5.5. */
const controlHeader = 6;
/** The close code for a client that breaks a rule of the server. Spec: RFC 6455 §7.4.1. */
const policyViolation = 1_008;

/** The message of a WebSocket that has not arrived as a whole: `ws` holds its bytes until then. */
export class UnfinishedMessage {
  /** When it began, in milliseconds of `performance.now()`; infinite without one. */
  since = Number.POSITIVE_INFINITY;
  readonly #client: WebSocket;
  readonly #socket: Duplex;
  readonly #caller: CallerSockets;
  #bytes = 0;

  constructor(client: WebSocket, socket: Duplex, caller: CallerSockets) {
    this.#client = client;
    this.#socket = socket;
    this.#caller = caller;
    // Before the listener of `ws`, which emits the message that ends in these bytes.
    socket.prependListener('data', (chunk: Buffer) => this.#hold(chunk.length));
    client.on('message', () => this.#let(this.#bytes));
    client.on('ping', (payload) => this.#let(payload.length + controlHeader));
    client.on('pong', (payload) => this.#let(payload.length + controlHeader));
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

  #hold(bytes: number): void {
    if (this.#bytes === 0) this.since = performance.now();
    this.#bytes += bytes;
    this.#caller.bytes += bytes;
    if (this.#caller.bytes > this.#caller.most) this.refuse('Too many unfinished messages');
  }

  #let(bytes: number): void {
    const gone = Math.min(bytes, this.#bytes);
    this.#bytes -= gone;
    this.#caller.bytes -= gone;
    if (this.#bytes === 0) this.since = Number.POSITIVE_INFINITY;
  }
}
