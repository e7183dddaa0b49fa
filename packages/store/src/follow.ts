import type { Scope, StoredFact, TaskStore } from './task-store.ts';

export interface FollowOptions {
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** How long to trust the bell before looking anyway, in milliseconds. Default 1,000; `Infinity` never looks. */
  readonly lookEveryMs?: number;
  /** How many facts are read at once. Default 256. */
  readonly batch?: number;
  /** Resolves after so many milliseconds or when aborted, whichever is first. Default: a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Yields the facts of a task after a position, then every new one as it is committed, by any process: in order, no gaps,
 * no duplicates. Ends when aborted. Rejects with `LOG_GAP` if facts at the position were pruned, and with `LOG_DIVERGED`
 * if the log no longer holds what was yielded.
 */
export async function* follow(
  store: TaskStore,
  scope: Scope,
  taskId: string,
  after: number,
  { signal, lookEveryMs = 1_000, batch = 256, sleep = pause }: FollowOptions = {},
): AsyncGenerator<StoredFact> {
  let rung = Promise.withResolvers<void>();
  let lastCommitId: string | undefined;
  const ring = () => rung.resolve();
  // Watch before reading, or a commit in between would be missed.
  const unsubscribe = await store.subscribe({ scope, taskId }, ring);
  signal?.addEventListener('abort', ring);
  try {
    while (!signal?.aborted) {
      rung = Promise.withResolvers();
      const facts = await store.readFacts(scope, taskId, after, batch, lastCommitId);
      for (const stored of facts) {
        if (signal?.aborted) return;
        after = stored.version;
        lastCommitId = stored.commitId;
        yield stored;
      }
      if (facts.length === 0 && !signal?.aborted) await rungOrLate(rung.promise, lookEveryMs, sleep);
    }
  } finally {
    signal?.removeEventListener('abort', ring);
    await unsubscribe();
  }
}

async function rungOrLate(
  rung: Promise<void>,
  ms: number,
  sleep: NonNullable<FollowOptions['sleep']>,
): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return rung;
  const stop = new AbortController();
  await Promise.race([rung, sleep(ms, stop.signal)]);
  stop.abort();
}

/** A timer that can be cut short and keeps no process alive. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer: ReturnType<typeof setTimeout> & { unref?: () => void } = setTimeout(
      done,
      Math.min(ms, 2 ** 31 - 1),
    );
    timer.unref?.();
    signal?.addEventListener('abort', done);
    if (signal?.aborted) done();
  });
