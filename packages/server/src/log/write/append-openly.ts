import type { Fact } from '@batonjs/lifecycle';
import { type Commit, StoreError } from '@batonjs/store';
import { boundedUntil } from '../../base/timing/within-deadline.ts';
import type { LiveTask } from '../live-task.ts';
import { backoffMs, writeDeadline } from './retry.ts';
import type { Written } from './write.ts';

/**
 * Appends facts at the end of the log, at whatever position that is, so that they never lose a race against a busy
 * writer. `once` names the append: a repetition under the same name writes nothing. Rejects with `LOG_DELETED` if the task
 * was deleted.
 */
export async function appendOpenly(
  live: LiveTask,
  facts: readonly Fact[],
  once: string,
  turn: Commit['turn'],
): Promise<Written> {
  const { scope, taskId, dependencies } = live;
  const { store, clock } = dependencies;
  const deadline = writeDeadline(clock.monotonic(), live);
  const commit: Commit = {
    scope,
    taskId,
    commitId: live.nextCommitId(),
    expectedVersion: 'open',
    facts,
    once,
    turn,
  };
  for (let attempt = store.commit(commit); ; ) {
    try {
      const { version, repeated } = await attempt;
      const first = repeated ? version : version - facts.length + 1;
      const [stored] = repeated ? await store.readFacts(scope, taskId, first - 1, 1) : [];
      await live.tryRefresh();
      return { facts: [], first, repeated: repeated && stored?.commitId !== commit.commitId };
    } catch (error) {
      // There is no log to append to any more.
      if (StoreError.is(error, 'VERSION_CONFLICT')) await live.tryRefresh();
      if (live.isDiverged) throw live.readError;
      const waitMs = backoffMs(clock);
      if (!StoreError.is(error, 'UNAVAILABLE') || clock.monotonic() + waitMs >= deadline) throw error;
      await clock.sleep(waitMs);
      attempt = boundedUntil(() => store.commit(commit), deadline, clock);
    }
  }
}
