import { type CallEvents, type CallTarget, parseJson } from '@batonjs/bindings';
import { A2AError, invalidRequest } from '@batonjs/protocol/errors';
import { PROTOCOL_VERSION } from '@batonjs/protocol/headers';
import { operations } from '@batonjs/protocol/operations';
import type { RawData, WebSocket } from 'ws';
import type { ServedSocket } from '../sockets/socket-listener.ts';
import { CONNECTION_ERROR, encodeEnd, encodeError, encodeEvent, encodeResult } from '../wire/answer-frame.ts';
import { WEBSOCKET_BINDING } from '../wire/binding-name.ts';
import { closeCodes } from '../wire/close-code.ts';
import { type Id, idAtStart, idIn, type RequestFrame, readRequest } from '../wire/request-frame.ts';
import { Credentials } from './credentials.ts';
import type { MessageCount } from './message-rate.ts';
import { SendQueue } from './send-queue.ts';

export interface ConnectionLimits {
  /** Streams at a time. */
  readonly streams: number;
  /** Other calls at a time. */
  readonly requests: number;
}

/** What a connection needs. */
export interface ConnectionSettings extends ConnectionLimits {
  readonly target: CallTarget;
  /** The headers of the upgrade. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly remoteAddress: string | undefined;
  /** The scope of the caller; undefined if the server asks for no caller. */
  readonly scope: string | undefined;
  readonly messages: MessageCount;
  /** Counts the messages of all connections of the caller. */
  readonly ofCaller: MessageCount | undefined;
}

type CallFrame = RequestFrame & { readonly kind: 'call' };

/** One WebSocket: the calls on it and their answers. */
export class Connection implements ServedSocket {
  readonly #socket: WebSocket;
  readonly #settings: ConnectionSettings;
  readonly #frames: SendQueue;
  readonly #credentials: Credentials;
  readonly #calls = new Map<Id, OpenCall>();
  #streams = 0;
  #receivedAt = performance.now();
  #isDraining = false;

  constructor(socket: WebSocket, settings: ConnectionSettings) {
    this.#socket = socket;
    this.#settings = settings;
    this.#frames = new SendQueue(socket);
    this.#credentials = new Credentials(settings, {
      send: (frame) => this.#frames.send(frame),
      close: () => socket.close(closeCodes.unauthenticated, 'Unauthenticated'),
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('close', () => this.#left());
    // `close` follows. A broken connection is nothing unusual.
    socket.on('error', () => {});
  }

  get isIdle(): boolean {
    return this.#calls.size === 0;
  }

  get activeAt(): number {
    return Math.max(this.#receivedAt, this.#frames.takenAt);
  }

  /** Asks again whether the credentials of the upgrade are good, if there are streams, which would not notice. */
  recheck(): void {
    if (this.#streams > 0) void this.#credentials.recheck();
  }

  /** Closes the connection as soon as nothing is under way on it. */
  drain(): void {
    this.#isDraining = true;
    if (this.isIdle) this.#socket.close(closeCodes.goingAway, 'The server closes');
  }

  /** Ends the calls, streams with their ends, and closes the connection. */
  end(): void {
    for (const call of this.#calls.values()) {
      if (call.isStream) this.#frames.send(encodeEnd(JSON.stringify(call.id)));
      call.end();
    }
    this.#socket.close(closeCodes.goingAway, 'The server closes');
  }

  /** Breaks the connection off. */
  terminate(): void {
    this.#socket.terminate();
  }

  #receive(data: RawData, isBinary: boolean): void {
    const socket = this.#socket;
    // Frames still arrive while the closing handshake takes its time.
    if (socket.readyState !== socket.OPEN) return;
    this.#receivedAt = performance.now();
    if (isBinary) return void socket.close(closeCodes.unsupportedData, 'Frames are JSON text');
    const { messages, ofCaller, target } = this.#settings;
    if (!messages.take() || (ofCaller && !ofCaller.take())) {
      const error = new A2AError('RESOURCE_EXHAUSTED', 'Rate limit exceeded', { retryAfter: 1 });
      this.#frames.send(encodeError(null, error, CONNECTION_ERROR));
      return void socket.close(closeCodes.policy, 'Rate limit exceeded');
    }
    const text = String(data);
    let value: unknown;
    try {
      const { jsonDepth: maxDepth, jsonValues: maxValues } = target.limits;
      value = parseJson(text, { maxDepth, maxValues });
      this.#perform(readRequest(value));
    } catch (error) {
      const isJson = !A2AError.is(error, 'PARSE_ERROR');
      const isBeyondLimits = value === undefined && isJson;
      const id = isBeyondLimits ? idAtStart(text) : idIn(value);
      const isFree = id !== undefined && !this.#calls.has(id);
      this.#frames.send(encodeError(isFree ? id : null, A2AError.from(error)));
      if (!isJson) socket.close(closeCodes.protocolError, 'Frames are JSON text');
    }
    // A client that reads no answers may not ask for more.
    if (this.#frames.isFull && !socket.isPaused) {
      socket.pause();
      void this.#frames.drained().then(() => socket.resume());
    }
  }

  #perform(frame: RequestFrame): void {
    const { id } = frame;
    const open = this.#calls.get(id);
    if (frame.kind === 'cancel') {
      if (open) this.#remove(open);
      open?.end();
      return void this.#frames.send(encodeEnd(JSON.stringify(id)));
    }
    if (open)
      throw invalidRequest([
        { field: 'id', description: `${JSON.stringify(id)} is in use on this connection` },
      ]);
    const isStream = frame.kind === 'call' && operations[frame.operation].kind === 'stream';
    const { streams, requests } = this.#settings;
    const isTooMany = isStream ? this.#streams >= streams : this.#calls.size - this.#streams >= requests;
    if (isTooMany) {
      const what = isStream ? 'streams' : 'requests';
      const error = new A2AError('RESOURCE_EXHAUSTED', `Too many concurrent ${what}`, { retryAfter: 1 });
      return void this.#frames.send(encodeError(id, error, CONNECTION_ERROR));
    }
    const call = new OpenCall(id, isStream);
    this.#calls.set(id, call);
    if (isStream) this.#streams += 1;
    void (frame.kind === 'call' ? this.#answer(call, frame) : this.#authenticate(call, frame.authorization))
      .catch((error) => this.#refuse(call, A2AError.from(error)))
      .finally(() => {
        call.finish();
        this.#remove(call);
      });
  }

  async #answer(call: OpenCall, { operation, readParams, serviceParams }: CallFrame): Promise<void> {
    const frames = this.#frames;
    const { headers } = this.#credentials;
    const answer = await this.#settings.target.answerCall({
      operation,
      binding: WEBSOCKET_BINDING,
      version: PROTOCOL_VERSION,
      path: '/',
      headers: { ...headers, ...serviceParams },
      opening: headers,
      remoteAddress: this.#settings.remoteAddress,
      signal: call.signal,
      readParams,
    });
    if ('result' in answer) {
      if (frames.isFull) await frames.drained();
      if (!call.isOver) frames.send(encodeResult(call.id, answer.result, answer.extensions));
      return;
    }
    const { events } = answer;
    call.events = events;
    const idText = JSON.stringify(call.id);
    let extensions: readonly string[] | undefined = answer.extensions;
    for (let batch = await events.next(); batch; batch = await events.next()) {
      for (const { id: position, event } of batch.events) {
        if (frames.isFull) await frames.drained();
        if (call.isOver) return;
        frames.send(encodeEvent(idText, event, position, extensions));
        extensions = undefined;
      }
    }
    if (!call.isOver) frames.send(encodeEnd(idText));
  }

  async #authenticate(call: OpenCall, authorization: string): Promise<void> {
    await this.#credentials.replace(authorization);
    if (!call.isOver) this.#frames.send(encodeResult(call.id, {}));
  }

  #refuse(call: OpenCall, error: A2AError): void {
    if (call.isOver) return;
    const isUnauthenticated = error.reason === 'UNAUTHENTICATED';
    this.#frames.send(encodeError(call.id, error, isUnauthenticated ? CONNECTION_ERROR : undefined));
    if (isUnauthenticated) this.#socket.close(closeCodes.unauthenticated, 'Unauthenticated');
    if (error.reason === 'VERSION_NOT_SUPPORTED')
      this.#socket.close(closeCodes.versionNotSupported, 'Version not supported');
  }

  #remove(call: OpenCall): void {
    if (this.#calls.get(call.id) !== call) return;
    this.#calls.delete(call.id);
    if (call.isStream) this.#streams -= 1;
    if (this.#isDraining && this.isIdle) this.drain();
  }

  #left(): void {
    this.#credentials.close();
    for (const call of this.#calls.values()) call.end();
    this.#frames.close();
  }
}

/** A call that is under way on a connection. */
class OpenCall {
  readonly id: Id;
  readonly isStream: boolean;
  readonly #left = new AbortController();
  #events: CallEvents | undefined;

  constructor(id: Id, isStream: boolean) {
    this.id = id;
    this.isStream = isStream;
  }

  /** Aborted when the call is ended from outside. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  get isOver(): boolean {
    return this.#left.signal.aborted;
  }

  /** The events that answer the call. Closes them if the call is over. */
  set events(events: CallEvents) {
    this.#events = events;
    if (this.isOver) events.close();
  }

  /** Ends the call before its answer. A task that it started goes on. */
  end(): void {
    this.#left.abort();
    this.#events?.close();
  }

  /** Frees the events after the last one. */
  finish(): void {
    this.#events?.close();
  }
}
