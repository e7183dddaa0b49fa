import type { StoreSource } from './records.ts';

interface RoundsOptions {
  /** Of the record of the right to a round. */
  readonly name: string;
  /** The things that are deleted, as the log names them. */
  readonly what: string;
  readonly everyMs: number;
}

/** The shortest time between two questions of one process, in parts of `everyMs`; the right lasts as long. */
const shortest = 0.75;

/**
 * Work that is done from time to time. Among all processes on a store one at a time does it: whose record it is, which is
 * never given back. Its time ends, and then the next process that asks has it.
 */
export abstract class Rounds {
  readonly #source: StoreSource;
  readonly #options: RoundsOptions;
  readonly #stop = new AbortController();
  protected readonly signal: AbortSignal = this.#stop.signal;
  protected readonly ttlMs: number;
  #over: Promise<void> | undefined;

  constructor(source: StoreSource, options: RoundsOptions) {
    this.#source = source;
    this.#options = options;
    this.ttlMs = options.everyMs * shortest;
  }

  /** Does the work of one round, until `signal` aborts. */
  protected abstract round(revision: number): Promise<unknown>;

  start(): void {
    this.#over = this.#loop();
  }

  /** Resolves when the work that is under way has ended. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#over;
  }

  /** The revision of the record; undefined if another process has it. */
  protected take(revision: number): Promise<number | undefined> {
    return this.#source.store.putRecord(this.#options.name, revision, {}, { ttlMs: this.ttlMs });
  }

  /** One round, if it is time and no other process has it. Never rejects. */
  async once(): Promise<void> {
    try {
      const revision = await this.take(0);
      if (revision !== undefined) await this.round(revision);
    } catch (error) {
      this.#source.report(`Could not delete old ${this.#options.what}`, { error });
    }
  }

  async #loop(): Promise<void> {
    const { clock } = this.#source;
    const { everyMs } = this.#options;
    while (!this.signal.aborted) {
      await this.once();
      // At random intervals, so that many processes do not all ask at the same moment.
      await clock.sleep(everyMs * (shortest + clock.random() / 2), this.signal, 'idle');
    }
  }
}
