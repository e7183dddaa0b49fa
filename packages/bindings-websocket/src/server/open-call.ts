import type { CallEvents } from '@batonjs/bindings';
import type { Id } from '../wire/request-frame.ts';

/** A call that is under way on a connection. */
export class OpenCall {
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
