import assert from 'node:assert/strict';
import { StoreError, type StoreErrorCode, type TaskStore, type Topic } from '@batonjs/store';
import { received } from '../samples/facts.ts';
import { logOf } from '../samples/log.ts';
import type { Bench } from './check.ts';

/** Fails unless both are the same JSON; `undefined` members count as absent. */
export function same(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(plain(actual), plain(expected), message);
}

const plain = (value: unknown): unknown => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

/** Fails unless it rejects with a store's refusal of this kind. */
export async function refuses(code: StoreErrorCode, promise: Promise<unknown>): Promise<void> {
  await assert.rejects(promise, (error) => {
    if (StoreError.is(error, code)) return true;
    throw new assert.AssertionError({
      message: `Should reject with ${code}, not with ${error}`,
      actual: error,
    });
  });
}

/** A watcher that counts. */
export interface Listener {
  readonly rings: () => number;
  /** Resolves when it rang since the last call; rejects when the suite's patience ends. */
  readonly next: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function listen(store: TaskStore, topic: Topic, { patienceMs }: Bench): Promise<Listener> {
  let rings = 0;
  let heard = 0;
  let notify = () => {};
  const unsubscribe = await store.subscribe(topic, () => {
    rings++;
    notify();
  });
  return {
    rings: () => rings,
    async next() {
      if (rings === heard) {
        const rung = new Promise<void>((resolve) => {
          notify = resolve;
        });
        await within(patienceMs, rung, `The bell of ${JSON.stringify(topic)} did not ring`);
      }
      heard = rings;
    },
    stop: async () => unsubscribe(),
  };
}

/** What the promise resolves to, unless that takes too long. */
export async function within<T>(ms: number, promise: Promise<T>, complaint: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: `${complaint} within ${ms} ms` })),
      ms,
    );
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks again and again until the answer is not undefined. */
export async function eventually<T>(
  { patienceMs }: Bench,
  ask: () => Promise<T | undefined>,
  complaint: string,
): Promise<T> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    assert.ok(Date.now() < end, `${complaint} within ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

let markers = 0;

/**
 * Resolves when this much time has passed on the store's own clock: it is told to pass, or a lease of that length that
 * nobody renews has run out.
 */
export async function elapse(bench: Bench, ms: number): Promise<void> {
  if (bench.advance) return bench.advance(ms);
  const queue = `marker ${++markers}`;
  const marker = logOf(bench.store, { scope: 'markers', taskId: queue, queue });
  await marker.commit([received()], { turn: { queue, acquire: { holder: 'nobody', ttlMs: ms } } });
  const claim = async () => {
    const [lease] = await bench.store.claim({ queue, holder: `clock ${markers}`, ttlMs: 60_000, limit: 1 });
    return lease;
  };
  const patienceMs = bench.patienceMs + ms;
  await eventually({ ...bench, patienceMs }, claim, 'A lease that nobody renewed did not run out');
}
