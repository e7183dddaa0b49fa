import type { StoredFact } from '@batonjs/store';
import { catchUp } from './catch-up.ts';
import type { LiveTask } from './live-task.ts';
import type { StreamEvent } from './stream-event.ts';

/** Some of what a reader is told. */
export interface Told {
  readonly events: readonly StreamEvent[];
  /** Nothing comes after these. */
  readonly isOver: boolean;
}

/** Somebody who is told of a task. */
export interface Reader {
  readonly live: LiveTask;
  readonly signal: AbortSignal;
  /** What facts look like to this reader: all after a position, in order, once each. */
  readonly tell: (facts: readonly StoredFact[]) => Told;
  /** Called once, when nobody reads any more. */
  readonly leave: () => void;
}

/** Where a reader begins. */
export interface Beginning extends Told {
  readonly reader: Reader;
  /** The position after which facts are told. */
  readonly after: number;
  /** The `commitId` of the fact at that position, if it is known. */
  readonly lastCommitId?: string | undefined;
}

type Next = IteratorResult<StreamEvent, undefined>;

const over: Next = { done: true, value: undefined };
const nothing: Told = { events: [], isOver: false };
const atEnd: Told = { events: [], isOver: true };

/**
 * What a reader is told, until it is over, aborted, or the server closes; rejects when the store cannot be read, and with
 * `LOG_DIVERGED` when it lost what the reader was told. Reads the
 * store only if the reader lags. Not a generator: thousands may follow, each is in memory for as long as it does, and is
 * told of every fact; so it listens once, waits with one promise, and keeps nothing that was told.
 */
export class EventStream implements AsyncIterableIterator<StreamEvent, undefined> {
  #open: (() => Promise<Beginning>) | undefined;
  #reader: Reader | undefined;
  #after = 0;
  #lastCommitId: string | undefined;
  #told = nothing;
  #taken = 0;
  #waiting: { resolve(next: Next): void; reject(error: unknown): void } | undefined;
  #isReading = false;
  #isOver = false;
  #stopListening: () => void = () => {};
  readonly #notice = () => this.#look();

  /** `open` is called when the first event is asked for. */
  constructor(open: () => Promise<Beginning>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const event = this.#take();
    if (event) return Promise.resolve({ done: false, value: event });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      const open = this.#open;
      this.#open = undefined;
      if (open) void this.#begin(open);
      else this.#hand();
    });
  }

  async return(): Promise<Next> {
    this.#end();
    return over;
  }

  async #begin(open: () => Promise<Beginning>): Promise<void> {
    try {
      const { reader, after, lastCommitId, ...told } = await open();
      if (this.#isOver) return reader.leave();
      this.#reader = reader;
      this.#after = after;
      this.#lastCommitId = lastCommitId;
      this.#told = told;
      this.#stopListening = reader.live.onChange(this.#notice);
      reader.signal.addEventListener('abort', this.#notice);
      this.#hand();
    } catch (error) {
      this.#end(error);
    }
  }

  /** The next of what is there. */
  #take(): StreamEvent | undefined {
    const { events, isOver } = this.#told;
    const event = events[this.#taken];
    if (!event) return undefined;
    this.#taken++;
    if (this.#taken < events.length) return { ...event, hasNext: true };
    this.#told = isOver ? atEnd : nothing;
    return event;
  }

  /** Gives whoever waits what is there; if there is nothing, they wait on. */
  #hand(): void {
    const event = this.#take();
    if (event) {
      this.#waiting?.resolve({ done: false, value: event });
      this.#waiting = undefined;
    } else if (this.#told.isOver) this.#end();
    else this.#look();
  }

  #look(): void {
    const reader = this.#reader;
    if (reader?.signal.aborted) this.#end();
    else if (reader && this.#waiting && !this.#isReading) this.#lookFor(reader);
  }

  #lookFor(reader: Reader): void {
    const { live } = reader;
    if (live.ended) this.#end();
    else if (live.isDiverged) this.#end(live.trouble);
    else if (this.#after < live.version) {
      const facts = live.recentAfter(this.#after);
      if (facts) this.#tell(facts, reader);
      else void this.#catchUp(reader);
    } else if (live.trouble) this.#end(live.trouble);
  }

  async #catchUp(reader: Reader): Promise<void> {
    this.#isReading = true;
    try {
      const facts = await catchUp(reader.live, this.#after, this.#lastCommitId, reader.signal, true);
      this.#isReading = false;
      if (!this.#isOver) this.#tell(facts, reader);
    } catch (error) {
      this.#end(error);
    }
  }

  #tell(facts: readonly StoredFact[], { tell }: Reader): void {
    try {
      const last = facts.at(-1);
      if (last) {
        this.#after = last.version;
        this.#lastCommitId = last.commitId;
      }
      this.#told = tell(facts);
      this.#taken = 0;
      this.#hand();
    } catch (error) {
      this.#end(error);
    }
  }

  #end(error?: unknown): void {
    if (error === undefined) this.#waiting?.resolve(over);
    else this.#waiting?.reject(error);
    this.#waiting = undefined;
    this.#told = atEnd;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopListening();
    this.#reader?.signal.removeEventListener('abort', this.#notice);
    this.#reader?.leave();
    this.#reader = undefined;
  }
}
