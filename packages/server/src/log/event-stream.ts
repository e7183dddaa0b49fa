import type { StoredFact } from '@batonjs/store';
import { Cursor, type Follower, type LogPosition } from './cursor.ts';
import type { LiveTask } from './live-task.ts';
import type { StreamEvent } from './recent-facts.ts';

/** Events of a stream that are there at the same time. */
export interface EventBatch {
  readonly events: readonly StreamEvent[];
  /** The stream ends after them. */
  readonly isLast: boolean;
}

/** The start of a stream: its first events, and how to read the next ones. */
export interface StreamStart extends EventBatch {
  readonly live: LiveTask;
  /** Ends the stream. */
  readonly signal: AbortSignal;
  /** The facts after it become events. */
  readonly position: LogPosition;
  /** The events of facts. Called with all facts after the position, in order, once each. */
  readonly toEvents: (facts: readonly StoredFact[]) => EventBatch;
  /** Called once, when the stream is over. */
  readonly leave: () => void;
}

/** The events of one task for one client, read when they are asked for: see `Cursor` for the rules. */
export class EventStream implements Follower {
  readonly outlastsOutages = false;
  #open: (() => Promise<StreamStart>) | undefined;
  #cursor: Cursor | undefined;
  #toEvents: StreamStart['toEvents'] | undefined;
  #leave: (() => void) | undefined;
  #pending: { resolve(batch: EventBatch | undefined): void; reject(error: unknown): void } | undefined;
  #hasBegun = false;
  #isOver = false;

  /** `open` is called at the first `next()`. */
  constructor(open: () => Promise<StreamStart>) {
    this.#open = open;
  }

  /**
   * Resolves to the next events, at least one, or to undefined when the stream is over. The first call may resolve to no
   * events: the stream has begun, and the task has nothing to tell yet. Rejects when `open` does, when the store cannot
   * be read, and with `LOG_DELETED` or `LOG_DIVERGED` when what the client got is gone. The caller waits for one call
   * before the next.
   */
  next(): Promise<EventBatch | undefined> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      const open = this.#open;
      this.#open = undefined;
      if (open) void this.#begin(open);
      else if (this.#isOver) this.#settle(undefined);
      else this.#cursor?.read();
    });
  }

  /** Ends the stream. A pending `next()` resolves to undefined. May be called again. */
  close(): void {
    this.end();
  }

  take(facts: readonly StoredFact[]): void {
    if (this.#toEvents) this.#hand(this.#toEvents(facts));
  }

  end(error?: unknown): void {
    if (error === undefined) this.#settle(undefined);
    else this.#pending?.reject(error);
    this.#pending = undefined;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cursor?.close();
    this.#leave?.();
    this.#cursor = undefined;
    this.#toEvents = undefined;
    this.#leave = undefined;
  }

  async #begin(open: () => Promise<StreamStart>): Promise<void> {
    try {
      const start = await open();
      if (this.#isOver) return start.leave();
      this.#cursor = new Cursor(start.live, start.position, start.signal, this);
      this.#toEvents = start.toEvents;
      this.#leave = start.leave;
      this.#hand(start);
    } catch (error) {
      this.end(error);
    }
  }

  #hand({ events, isLast }: EventBatch): void {
    // Otherwise a client of a silent task would get no answer, and could not tell it from a server that hangs.
    const begins = !this.#hasBegun && !isLast && this.#cursor?.wouldWait;
    const isShown = events.length > 0 || begins;
    if (isShown) {
      this.#hasBegun = true;
      this.#settle({ events, isLast });
    }
    if (isLast) this.end();
    else if (!isShown) this.#cursor?.read();
  }

  #settle(batch: EventBatch | undefined): void {
    this.#pending?.resolve(batch);
    this.#pending = undefined;
  }
}
