import { StoreError } from '@batonjs/store';
import type { ObjectStorage } from './object-storage.ts';

export interface AlarmOptions {
  readonly storage: ObjectStorage;
  /** When the next task or webhook is due; 0 while a turn runs or waits; undefined if there is nothing to do. */
  readonly nextWorkAt: () => number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How soon the object is woken after it died with a turn that ran or waited, in milliseconds. */
  readonly recoverAfterMs: number;
}

/**
 * Keeps an alarm set while there is work, so that an object that was evicted or killed starts again without a request.
 * While a turn runs, the alarms also keep the object from being evicted: that happens only to objects without events.
 */
export class Alarm {
  readonly #options: AlarmOptions;
  /** When the alarm goes off, if this object set it. The alarm of the object before goes off as well. */
  #at = Number.NEGATIVE_INFINITY;
  #fault: StoreError | undefined;

  constructor(options: AlarmOptions) {
    this.#options = options;
  }

  /** Throws the error of an alarm that could not be set. */
  mustWork(): void {
    if (this.#fault) throw this.#fault;
  }

  /**
   * Sets the alarm if it is needed earlier than it is set. Called in the same turn of the event loop as the write, so
   * that both are stored or none. Rejects with code `UNUSABLE` if the class has no method `alarm`.
   */
  plan(): Promise<void> | undefined {
    const { storage, nextWorkAt, now: clock, recoverAfterMs } = this.#options;
    const now = clock();
    const isSet = this.#at > now;
    // Near enough: this object is awake, and the alarm is for the one after it.
    if (isSet && this.#at <= now + recoverAfterMs) return undefined;
    const next = nextWorkAt();
    if (next === undefined) return undefined;
    const at = next > now ? next : now + recoverAfterMs;
    if (isSet && this.#at <= at) return undefined;
    this.#at = at;
    return this.#set(storage, at);
  }

  /** Sets the next alarm, after one went off. */
  async setNext(): Promise<void> {
    this.#at = Number.NEGATIVE_INFINITY;
    await this.plan();
  }

  async #set(storage: ObjectStorage, at: number): Promise<void> {
    try {
      await storage.setAlarm(at);
    } catch (error) {
      const message =
        'This Durable Object cannot be woken. Its class needs a method `alarm() { return store.alarm(); }`';
      this.#fault = new StoreError('UNUSABLE', message, { cause: error });
      // The write that needed the alarm may have happened.
      throw new StoreError('UNAVAILABLE', message, { cause: error });
    }
  }
}
