import { A2AError } from '@batonjs/protocol/errors';
import { openSocket } from '#socket';
import { readAnswer } from '../wire/answer-frame.ts';
import { closeCodes } from '../wire/close-code.ts';
import type { Answers } from './answers.ts';
import type { Socket, SocketRequest } from './socket.ts';

/** What a connection is opened with, and how long it is kept. Times in milliseconds. */
export interface ConnectionOptions extends Omit<SocketRequest, 'onText' | 'onClose'> {
  /** How long the agent may say nothing, while calls wait, before it is asked whether it is there. */
  readonly probeMs: number;
  /** How long the answer to that may take. */
  readonly answerMs: number;
  /** How long a connection without calls stays open. */
  readonly idleMs: number;
  /** Called when the connection takes no more calls. */
  readonly onLeave: () => void;
}

interface PendingCall {
  readonly answers: Answers;
  /** Characters of the request. */
  readonly length: number;
}

/** The id of the frames that ask whether the agent is there: no call has it. */
const PROBE = 'probe';

/** One WebSocket with any number of calls. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #calls = new Map<number, PendingCall>();
  #socket!: Socket;
  #lastId = 0;
  #heardAt = performance.now();
  /** Whether it takes no further calls: it is closed after the last. */
  #isRetired = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** An error that named no call. */
  #unnamed: A2AError | undefined;

  private constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options);
    connection.#socket = await openSocket({
      ...options,
      onText: (text, bytes) => connection.#receive(text, bytes),
      onClose: (code) => connection.#closed(code),
    });
    connection.#watch();
    return connection;
  }

  /** Sends a call. Returns its id. */
  start(answers: Answers, frameOf: (id: number) => string): number {
    this.#lastId += 1;
    const id = this.#lastId;
    const frame = frameOf(id);
    this.#socket.send(frame);
    this.#calls.set(id, { answers, length: frame.length });
    if (this.#calls.size === 1) {
      this.#socket.hold(true);
      this.#heardAt = performance.now();
      this.#watch();
    }
    return id;
  }

  /** Leaves a call before its end. The task goes on. */
  leave(id: number): void {
    if (!this.#calls.has(id)) return;
    this.#remove(id);
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id, cancelStream: true }));
  }

  /** Whether it takes calls. */
  get isOpen(): boolean {
    return this.#socket.isOpen;
  }

  close(): void {
    this.#options.onLeave();
    this.#socket.close(closeCodes.normal);
  }

  #remove(id: number): void {
    this.#calls.delete(id);
    if (this.#calls.size > 0) return;
    this.#socket.hold(false);
    if (this.#isRetired) this.#socket.close(closeCodes.normal);
    else this.#watch();
  }

  #receive(text: string, bytes: number): void {
    this.#heardAt = performance.now();
    let frame: ReturnType<typeof readAnswer>;
    try {
      frame = readAnswer(text);
    } catch (error) {
      this.#fail(error);
      return void this.#socket.close(closeCodes.normal);
    }
    if (!frame) return;
    if (frame.kind === 'reauthentication') {
      this.#options.onLeave();
      this.#isRetired = true;
      if (this.#calls.size === 0) this.#socket.close(closeCodes.normal);
      return;
    }
    const { id } = frame;
    const call = typeof id === 'number' ? this.#calls.get(id) : undefined;
    if (!call) {
      if (frame.kind === 'error' && id === undefined) this.#refused(frame.error);
      return;
    }
    const { answers } = call;
    if (frame.kind !== 'result') {
      this.#remove(id as number);
      if (frame.kind === 'end') answers.end();
      else answers.fail(frame.error);
    } else if (bytes > answers.maxBytes) {
      this.leave(id as number);
      answers.fail(new RangeError(`An answer of ${bytes} bytes`));
    } else {
      const state = answers.take(frame.result, frame.position, bytes);
      if (state === 'done') this.#remove(id as number);
      if (state !== 'full') return;
      this.leave(id as number);
      answers.fail(new Error('The stream was read too slowly'));
    }
  }

  /** The server did not say which call: the only one that waits, or else all fail as on a broken connection. */
  #refused(error: A2AError): void {
    this.#unnamed = error;
    const [first, second] = [...this.#calls].filter(([, { answers }]) => !answers.isAnswered);
    // After others, it closes the connection.
    if (!first || error.reason !== 'INVALID_REQUEST') return;
    if (second) return void this.#socket.close(closeCodes.normal);
    const [id, { answers }] = first;
    this.#remove(id);
    answers.fail(error);
  }

  #closed(code: number): void {
    clearTimeout(this.#timer);
    this.#options.onLeave();
    this.#fail(new BrokenConnection(this.#unnamed?.reason ?? `closed with ${code}`), code);
  }

  /** Fails all calls. The server does not say which message was too long: it was the longest without an answer. */
  #fail(error: unknown, code?: number): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    const waiting = calls.filter(({ answers }) => !answers.isAnswered);
    const longest = Math.max(...waiting.map(({ length }) => length));
    for (const { answers, length } of calls) {
      const isTooLong = code === closeCodes.tooBig && !answers.isAnswered && length === longest;
      answers.fail(isTooLong ? new A2AError('PAYLOAD_TOO_LARGE') : error);
    }
  }

  /** Looks after the connection: whether the agent is there while calls wait, and closes it when it was idle. */
  #watch(): void {
    clearTimeout(this.#timer);
    const { probeMs, answerMs, idleMs } = this.#options;
    const isBusy = this.#calls.size > 0;
    const look = () => {
      if (!isBusy) return void this.close();
      const silentMs = performance.now() - this.#heardAt;
      if (silentMs < probeMs) return void this.#in(probeMs - silentMs, look);
      const askedAt = performance.now();
      // Every server answers the cancel of a stream that it does not know.
      this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: PROBE, cancelStream: true }));
      this.#in(answerMs, () => {
        if (this.#heardAt >= askedAt) return look();
        this.#socket.terminate();
        this.#closed(closeCodes.goingAway);
      });
    };
    this.#in(isBusy ? probeMs : idleMs, look);
  }

  #in(ms: number, act: () => void): void {
    this.#timer = setTimeout(act, ms);
    // A timer of Node.js keeps the process alive; the calls do so by their socket.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}

/** Thrown by calls whose connection broke. It is not known whether they were performed. */
class BrokenConnection extends Error {
  /** Why, as far as the server said. */
  readonly code: string;

  constructor(code: string) {
    super(`The WebSocket was ${code}`);
    this.code = code;
  }
}
