import {
  encodeSse,
  type ReceivedCall,
  type ServerBinding,
  type StreamEncoder,
  sseHeartbeat,
} from '@batonjs/bindings';
import type { A2AError } from '@batonjs/protocol/errors';
import type { StreamEvent } from '../log/stream-event.ts';
import type { Clock } from '../timing/clock.ts';
import { deadlinesOf } from '../timing/deadline-timers.ts';

const heartbeatMs = 15_000;
/** About how many characters are written at once. */
const batchLength = 65_536;

/** What the body of a stream is made of. */
export interface StreamSource {
  readonly first: IteratorResult<StreamEvent>;
  readonly rest: AsyncIterator<StreamEvent>;
  readonly binding: ServerBinding;
  readonly call: ReceivedCall;
  readonly clock: Clock;
  readonly onError: (error: unknown) => A2AError;
}

/**
 * The text of a stream: its events, comments while nothing happens, and an error as the last event if one ends it. Events
 * that are there at the same time are one text.
 */
export const streamBody = (source: StreamSource): AsyncIterableIterator<string> => new StreamBody(source);

type Text = IteratorResult<string, undefined>;

const over: Text = { done: true, value: undefined };

/** Not a generator: thousands may follow, and each is in memory for as long as it does. */
class StreamBody implements AsyncIterableIterator<string, undefined> {
  readonly #rest: AsyncIterator<StreamEvent>;
  readonly #encoder: StreamEncoder;
  readonly #errorEvent: string | undefined;
  readonly #clock: Clock;
  readonly #toWire: (error: unknown) => A2AError;
  readonly #onNext = (next: IteratorResult<StreamEvent>) => this.#take(next);
  readonly #onError = (error: unknown) => this.#fail(error);
  /** What was not read yet. */
  #text = '';
  #tell: ((text: Text) => void) | undefined;
  #isAsked = false;
  #isOver = false;
  #heartbeat: ReturnType<ReturnType<typeof deadlinesOf>['add']> | undefined;

  constructor({ first, rest, binding, call, clock, onError }: StreamSource) {
    this.#rest = rest;
    this.#encoder = binding.encodeStream(call);
    this.#errorEvent = binding.streamErrorEvent;
    this.#clock = clock;
    this.#toWire = onError;
    this.#take(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Text> {
    if (!this.#heartbeat && !this.#isOver) this.#beatLater();
    return new Promise((resolve) => {
      this.#tell = resolve;
      // What is asked for with some text there already comes at once, and belongs to it.
      if (this.#isOver || (this.#text !== '' && !this.#isAsked)) this.#hand();
      else if (!this.#isAsked) this.#ask();
    });
  }

  async return(): Promise<Text> {
    this.#end();
    return over;
  }

  #ask(): void {
    this.#isAsked = true;
    this.#rest.next().then(this.#onNext, this.#onError);
  }

  #take(next: IteratorResult<StreamEvent>): void {
    this.#isAsked = false;
    if (next.done) this.#end();
    else if (!this.#isOver) this.#write(next.value);
    if (!this.#isAsked) this.#hand();
  }

  #write({ id, event, isLast, hasNext }: StreamEvent): void {
    try {
      this.#text += encodeSse({ data: this.#encoder.event(event, isLast), id });
      if (hasNext && this.#text.length < batchLength) this.#ask();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    const data = this.#encoder.error(this.#toWire(error));
    this.#text += encodeSse({ data, event: this.#errorEvent });
    this.#end();
    this.#hand();
  }

  /** Hands over what there is to whoever reads. */
  #hand(): void {
    const tell = this.#tell;
    this.#tell = undefined;
    const value = this.#text;
    if (tell) this.#text = '';
    tell?.(value === '' ? over : { done: false, value });
  }

  #beatLater(): void {
    this.#heartbeat = deadlinesOf(heartbeatMs, this.#clock).add(() => {
      this.#beatLater();
      if (!this.#tell || this.#text !== '') return;
      this.#text = sseHeartbeat;
      this.#hand();
    });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#heartbeat) deadlinesOf(heartbeatMs, this.#clock).remove(this.#heartbeat);
    void this.#rest.return?.();
  }
}
