import type { Turn } from '@batonjs/server';
import type { FailedCall } from './model-call.ts';

/** One call whose result is a step of the turn: what an earlier attempt recorded, or what `complete` is given. */
export interface RecordedCall<T> {
  /** How it failed before, in this attempt of the turn. */
  readonly failed: readonly FailedCall[];
  /** The recorded result; undefined if the call must be made. Rejects as a step does. */
  recorded(): Promise<T | undefined>;
  /** Records the result. Resolves when it is in the log. */
  complete(result: T): Promise<void>;
  /** The call failed. The next call of the same name takes its place, so that a retry keeps the number. */
  fail(how: FailedCall): void;
}

/**
 * The calls of one name in a turn. Calls are numbered in the order in which they begin; a failed call gives its number
 * to the next one. So a later attempt, in which nothing fails, finds each result under the same number.
 */
export class RecordedCalls<T> {
  readonly #turn: Turn;
  readonly #name: string;
  readonly #failed: Numbered<T>[] = [];
  readonly #open = new Set<Numbered<T>>();
  #count = 0;

  constructor(turn: Turn, name: string) {
    this.#turn = turn;
    this.#name = name;
  }

  begin(): RecordedCall<T> {
    const again = this.#failed.shift();
    const call = again ?? new Numbered<T>(this.#turn, `${this.#name} ${++this.#count}`);
    this.#open.add(call);
    return {
      failed: call.failed,
      recorded: () => call.recorded(),
      complete: async (result) => {
        await call.complete(result);
        this.#open.delete(call);
      },
      fail: (how) => {
        call.failed.push(how);
        this.#failed.push(call);
      },
    };
  }

  /** Ends the steps of calls that were not made again. */
  close(): void {
    for (const call of this.#open) call.abandon();
  }
}

/** A step that begins with a call and ends with the first attempt of the call that succeeds. */
class Numbered<T> {
  readonly failed: FailedCall[] = [];
  readonly #result = Promise.withResolvers<T>();
  readonly #step: Promise<T>;
  readonly #entered: Promise<undefined>;

  constructor(turn: Turn, name: string) {
    const entered = Promise.withResolvers<undefined>();
    this.#entered = entered.promise;
    this.#step = turn.step(name, () => {
      entered.resolve(undefined);
      return this.#result.promise;
    }) as Promise<T>;
    // Rejects without a reader if the turn ends while the call is made.
    this.#step.catch(() => {});
  }

  recorded(): Promise<T | undefined> {
    return Promise.race([this.#entered, this.#step]);
  }

  async complete(result: T): Promise<void> {
    this.#result.resolve(result);
    await this.#step;
  }

  abandon(): void {
    // Its rejection is for the step alone.
    this.#result.promise.catch(() => {});
    this.#result.reject(new Error('The call failed'));
  }
}
