import { A2AError } from '@batonjs/protocol/errors';
import { type Commit, StoreError, type TaskStore } from '@batonjs/store';
import type { Clock } from '../../base/timing/clock.ts';

/** How long the first commit of a fork is tried while the store does not answer, in milliseconds. */
const tryForMs = 10_000;

interface Source {
  readonly store: TaskStore;
  readonly clock: Clock;
}

/**
 * Writes the first commit of a fork. It is there when this resolves, by this call or by an earlier one for the same id and
 * the same origin. Rejects with an `A2AError` or `StoreError`.
 */
export async function begin(commit: Commit, origin: string, { store, clock }: Source): Promise<void> {
  const deadline = clock.monotonic() + tryForMs;
  for (;;) {
    try {
      await store.commit(commit);
      return;
    } catch (error) {
      if (StoreError.is(error, 'QUEUE_FULL'))
        throw new A2AError('RESOURCE_EXHAUSTED', 'Too many tasks wait for their turn', { retryAfter: 1 });
      const isThere = StoreError.is(error, 'VERSION_CONFLICT') || StoreError.is(error, 'LOG_CLOSED');
      if (isThere && (await isForkOf(origin, commit, store))) return;
      // Whether it was written is not known: the same commit is refused if it was.
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() >= deadline) throw error;
      await clock.sleep(50 + clock.random() * 100);
    }
  }
}

async function isForkOf(origin: string, { scope, taskId }: Commit, store: TaskStore): Promise<boolean> {
  const [first] = await store.readFacts(scope, taskId, 0, 1);
  return first?.fact.type === 'message-received' && first.fact.forked?.taskId === origin;
}
