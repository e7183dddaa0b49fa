import {
  encodeSse,
  type ReceivedCall,
  type ServerBinding,
  type StreamEncoder,
  sseHeartbeat,
} from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';
import type { Events } from '../../base/hooks/telemetry.ts';
import type { Clock } from '../../base/timing/clock.ts';
import { deadlinesOf, type Expiring } from '../../base/timing/deadline-timers.ts';
import type { EventBatch } from '../../log/event-stream.ts';

/** About how many characters are written at once. */
const batchLength = 65_536;
const noEvents: EventBatch['events'] = [];

/** The parts of the body of a stream. */
export interface StreamSource {
  /** The first events, read from `stream` already. None if the task has nothing to tell yet. */
  readonly first: EventBatch | undefined;
  readonly stream: Events<EventBatch>;
  readonly binding: ServerBinding;
  readonly call: ReceivedCall;
  readonly clock: Clock;
  /** How long the stream is silent before it sends a comment, in milliseconds. */
  readonly heartbeatMs: number;
  readonly onError: (error: unknown) => A2AError;
}

/**
 * The text of a stream in the format of Server-Sent Events. A comment comes at once if there is no event yet, and after each
 * `heartbeatMs` without one. An error is the last event if the stream fails. Events that are there at the same time become
 * one text.
 */
export const streamBody = (source: StreamSource): AsyncIterableIterator<string> => new StreamBody(source);

type Text = IteratorResult<string, undefined>;

const over: Text = { done: true, value: undefined };

/** Not a generator: thousands may follow, and each stays in memory as long as its stream is open. */
class StreamBody implements AsyncIterableIterator<string, undefined>, Expiring {
  readonly #stream: Events<EventBatch>;
  readonly #encoder: StreamEncoder;
  readonly #errorEvent: string | undefined;
  readonly #heartbeats: ReturnType<typeof deadlinesOf>;
  readonly #toWire: (error: unknown) => A2AError;
  readonly #onBatch = (batch: EventBatch | undefined) => this.#take(batch);
  readonly #onError = (error: unknown) => {
    this.#isReading = false;
    this.#fail(error);
    this.#hand();
  };
  #events = noEvents;
  /** How many of `#events` are in the text. */
  #encoded = 0;
  /** Text that the reader was not given yet. */
  #text = '';
  #pending: ((text: Text) => void) | undefined;
  #isReading = false;
  #isOver = false;
  #heartbeat: ReturnType<ReturnType<typeof deadlinesOf>['add']> | undefined;

  constructor({ first, stream, binding, call, clock, heartbeatMs, onError }: StreamSource) {
    this.#stream = stream;
    this.#encoder = binding.encodeStream(call);
    this.#errorEvent = binding.streamErrorEvent;
    this.#heartbeats = deadlinesOf(heartbeatMs, clock);
    this.#toWire = onError;
    this.#take(first);
    // Some runtimes and proxies pass on the headers of an answer only with the beginning of its body.
    if (first && first.events.length === 0) this.#text = sseHeartbeat;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Text> {
    if (!this.#heartbeat && !this.#isOver) this.#startHeartbeat();
    return new Promise((resolve) => {
      this.#pending = resolve;
      this.#encode();
      if (this.#text !== '' || this.#isOver) this.#hand();
      else if (!this.#isReading) this.#read();
    });
  }

  async return(): Promise<Text> {
    this.#end();
    return over;
  }

  /** Sends a comment if no event came for a while. */
  expire(): void {
    this.#startHeartbeat();
    if (!this.#pending || this.#text !== '') return;
    this.#text = sseHeartbeat;
    this.#hand();
  }

  #read(): void {
    this.#isReading = true;
    this.#stream.next().then(this.#onBatch, this.#onError);
  }

  #take(batch: EventBatch | undefined): void {
    this.#isReading = false;
    if (!batch) this.#end();
    else if (!this.#isOver) this.#events = batch.events;
    if (!this.#pending) return;
    this.#encode();
    this.#hand();
  }

  /** Adds the events that were read to the text, up to about `batchLength` characters. */
  #encode(): void {
    try {
      while (this.#encoded < this.#events.length && this.#text.length < batchLength) {
        const { id, event, isLast } = this.#events[this.#encoded++] as EventBatch['events'][number];
        this.#text += encodeSse({ data: this.#encoder.event(event, isLast), id });
      }
      if (this.#encoded === this.#events.length) this.#drop();
    } catch (error) {
      this.#fail(error);
    }
  }

  #drop(): void {
    this.#events = noEvents;
    this.#encoded = 0;
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const data = this.#encoder.error(this.#toWire(error));
    this.#text += encodeSse({ data, event: this.#errorEvent });
    this.#end();
  }

  /** Resolves the pending `next()` with the text, or with the end if there is none. */
  #hand(): void {
    const pending = this.#pending;
    if (!pending) return;
    this.#pending = undefined;
    const value = this.#text;
    this.#text = '';
    pending(value === '' ? over : { done: false, value });
  }

  #startHeartbeat(): void {
    this.#heartbeat = this.#heartbeats.add(this);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#drop();
    if (this.#heartbeat) this.#heartbeats.remove(this.#heartbeat);
    this.#stream.close();
  }
}
