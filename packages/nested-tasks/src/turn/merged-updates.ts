import { type Answer, completed, failed, type Message, type TaskUpdate, type Updates } from '@batonjs/server';
import { CallError } from '../call-error.ts';
import { hasEnded } from '../children/child-record.ts';
import type { TurnCalls } from './turn-calls.ts';

/**
 * The updates of an agent and of its calls, as they come. Before the task ends, the children that still run are canceled.
 * `signal` is that of the turn.
 */
export async function* mergedUpdates(
  answer: Answer | Promise<Answer>,
  calls: TurnCalls,
  signal: AbortSignal,
): Updates {
  const iterator = updatesOf(answer);
  const own = new Arrival(() => iterator.next());
  calls.updates.onPush(() => own.wake());
  try {
    for (;;) {
      const waiting = calls.updates.shift();
      if (waiting) {
        try {
          yield waiting.update;
          waiting.resolve();
        } catch (error) {
          waiting.reject(error);
        }
        continue;
      }
      const next = await own.next();
      if (!next) continue;
      if (next.done) return;
      if (endsTask(next.value)) for (const child of await calls.cancelRest()) yield { child };
      let refusal: { readonly error: unknown } | undefined;
      try {
        yield next.value;
      } catch (error) {
        refusal = { error };
      }
      own.pull(() => (refusal ? iterator.throw(refusal.error) : iterator.next()));
    }
  } catch (error) {
    // A turn that another process goes on with leaves its children alone.
    const { code } = Object(signal.reason) as { code?: unknown };
    if (signal.aborted && code !== 'CANCELED') throw error;
    for (const child of await calls.cancelRest()) yield { child };
    if (signal.aborted || !CallError.is(error)) throw error;
    yield failed({ code: `CALL_${error.code}`, message: error.message });
  } finally {
    // Not awaited: an agent that waits for a call is told a moment later, by its signal.
    iterator.return().catch(() => {});
  }
}

async function* updatesOf(answer: Answer | Promise<Answer>): Updates {
  const answered = await answer;
  if (Symbol.asyncIterator in answered) yield* answered as Updates;
  else yield completed(answered as Message);
}

const endsTask = (update: TaskUpdate): boolean => 'status' in update && hasEnded(update.status);

type Result<T> = { readonly value: T } | { readonly error: unknown };

/** The next result of a generator, awaited together with other events. One reaction to each promise, however often. */
class Arrival<T> {
  #result: Result<T> | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(pull: () => Promise<T>) {
    this.pull(pull);
  }

  pull(pull: () => Promise<T>): void {
    pull().then(
      (value) => this.#arrive({ value }),
      (error) => this.#arrive({ error }),
    );
  }

  /** Makes a pending `next()` resolve to undefined. */
  wake(): void {
    this.#changed.resolve();
  }

  /** Resolves to the result when it is there, or to undefined when it was woken before. Rejects as the generator does. */
  async next(): Promise<T | undefined> {
    if (!this.#result) await this.#changed.promise;
    this.#changed = Promise.withResolvers();
    const result = this.#result;
    this.#result = undefined;
    if (result && 'error' in result) throw result.error;
    return result?.value;
  }

  #arrive(result: Result<T>): void {
    this.#result = result;
    this.#changed.resolve();
  }
}
