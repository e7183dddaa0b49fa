import type { Clock } from '@batonjs/server/internals';
import { type Commit, StoreError, type TaskStore } from '@batonjs/store';

/** How long a commit is tried while the store does not answer, in milliseconds. */
const tryForMs = 10_000;

/** Where a commit goes, and the time by which it is tried again. */
export interface CommitSource {
  readonly store: TaskStore;
  readonly clock: Clock;
}

/**
 * Writes a commit that expects its log to have a certain length. Resolves to false if a commit is there already, which may
 * be this one: an answer may have been lost. Rejects with the `StoreError` of every other refusal.
 */
export async function commitOnce(
  commit: Commit & { readonly expectedVersion: number },
  { store, clock }: CommitSource,
): Promise<boolean> {
  const deadline = clock.monotonic() + tryForMs;
  for (;;) {
    try {
      await store.commit(commit);
      return true;
    } catch (error) {
      if (StoreError.is(error, 'VERSION_CONFLICT') || StoreError.is(error, 'LOG_CLOSED')) return false;
      // Whether it was written is not known: the same commit is refused if it was.
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() >= deadline) throw error;
      await clock.sleep(50 + clock.random() * 100);
    }
  }
}
