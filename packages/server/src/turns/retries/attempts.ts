import type { Fact, State } from '@batonjs/lifecycle';
import { isOfAgent } from '@batonjs/lifecycle/internals';
import type { LiveTask } from '../../log/live-task.ts';

const batch = 256;

/** A turn has at most this many times `maxAttempts` attempts, even if few of them count. */
const mostPerCounted = 3;

/**
 * Whether a turn that its process left has had its attempts. One counts if it wrote something or ran alone: a process
 * that dies ends all its turns, and most of them are not the cause. Those that ended, because the agent threw or the turn
 * was paused, do not count.
 */
export async function isSpent(
  { scope, taskId, dependencies }: LiveTask,
  { number, attempt, failures = 0, pauses = 0 }: NonNullable<State['openTurn']>,
  maxAttempts: number,
): Promise<boolean> {
  const left = attempt - failures - pauses;
  if (left < maxAttempts) return false;
  if (left >= maxAttempts * mostPerCounted) return true;
  const attempts: Attempt[] = [];
  for (let after = 0; ; ) {
    const facts = await dependencies.store.readFacts(scope, taskId, after, batch);
    for (const { fact } of facts) note(attempts, fact, number);
    const last = facts.at(-1);
    if (!last || facts.length < batch) break;
    after = last.version;
  }
  return attempts.filter(({ counts }) => counts).length >= maxAttempts;
}

interface Attempt {
  counts: boolean;
}

function note(attempts: Attempt[], fact: Fact, turn: number): void {
  if (fact.type === 'turn-started') {
    if (fact.turn === turn) attempts.push({ counts: fact.alone === true });
    return;
  }
  const running = attempts.at(-1);
  if (!running) return;
  // It ended, so its process did not die.
  if (fact.type === 'turn-failed' || fact.type === 'turn-paused') attempts.pop();
  else if (isWrittenByAgent(fact)) running.counts = true;
}

/** Messages, cancels and the status with which a turn continues a task that waited come from others. */
const isWrittenByAgent = (fact: Fact): boolean =>
  isOfAgent(fact) &&
  (fact.type !== 'status-changed' ||
    fact.status.state !== 'TASK_STATE_WORKING' ||
    fact.status.message !== undefined);
