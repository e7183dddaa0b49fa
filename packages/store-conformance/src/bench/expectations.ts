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

/** Fails unless the answer is a promise that rejects with a `StoreError` of this code. */
export async function refuses(code: StoreErrorCode, answer: unknown): Promise<void> {
  await assert.rejects(
    async () => answer,
    (error) => {
      if (StoreError.is(error, code)) return true;
      throw new assert.AssertionError({
        message: `Should reject with ${code}, not with ${error}`,
        actual: error,
      });
    },
  );
}

/** A subscriber that counts its notifications. */
export interface Subscriber {
  readonly notifications: () => number;
  /** Resolves once it was notified since the last call. Rejects after `timeoutMs`; `step` says of what it was not. */
  readonly next: (step: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function subscribe(
  store: TaskStore,
  topic: Topic,
  { timeoutMs }: Pick<Bench, 'timeoutMs'>,
): Promise<Subscriber> {
  let notifications = 0;
  let seen = 0;
  let notify = () => {};
  const unsubscribe = await store.subscribe(topic, () => {
    notifications++;
    notify();
  });
  return {
    notifications: () => notifications,
    async next(step) {
      if (notifications === seen) {
        const notified = new Promise<void>((resolve) => {
          notify = resolve;
        });
        await within(
          timeoutMs,
          notified,
          `The subscriber of ${JSON.stringify(topic)} was not notified of ${step}`,
        );
      }
      seen = notifications;
    },
    stop: async () => unsubscribe(),
  };
}

/** The promise, or a failed assertion after `ms` milliseconds, with the stack of the caller. */
export async function within<T>(ms: number, promise: Promise<T>, complaint: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // A timer has no stack of its own that leads to the check.
  const error = new assert.AssertionError({ message: `${complaint} within ${ms} ms` });
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Repeats `ask` until the answer is not undefined. Fails after `timeoutMs`. */
export async function eventually<T>(
  { timeoutMs }: Bench,
  ask: () => Promise<T | undefined>,
  complaint: string,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    assert.ok(Date.now() < end, `${complaint} within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

let markers = 0;

/**
 * Resolves when so many milliseconds have passed on the store's own clock: the clock is moved, or a lease of that
 * length has run out.
 */
export async function elapse(bench: Bench, ms: number): Promise<void> {
  if (bench.advance) return bench.advance(ms);
  const queue = `marker ${++markers}`;
  const marker = logOf(bench.store, { scope: 'markers', taskId: queue, queue });
  await marker.commit([received()], { turn: { queue, acquire: { holder: 'absent', ttlMs: ms } } });
  const claim = async () => {
    const [lease] = await bench.store.claim({ queue, holder: `clock ${markers}`, ttlMs: 60_000, limit: 1 });
    return lease;
  };
  const timeoutMs = bench.timeoutMs + ms;
  await eventually({ ...bench, timeoutMs }, claim, 'A lease that was not renewed did not run out');
}

/** Runs something that throws in callbacks. Meanwhile no uncaught error reaches the process or its test runner. */
export async function ignoringUncaught(run: () => Promise<void>): Promise<void> {
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', () => {});
  try {
    await run();
    // Errors may be thrown from microtasks and messages that are still to come.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
}
