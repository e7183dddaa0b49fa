import type { TaskUpdate } from '@batonjs/lifecycle';
import { A2AError } from '@batonjs/protocol/errors';
import { isPending } from '@batonjs/store';
import { checkUpdate } from '../agent/check-agent-output.ts';
import { takeWaiting, type WaitingUpdates } from '../agent/emitting.ts';
import type { Clock } from '../base/timing/clock.ts';
import { nextRound } from '../base/timing/round-limit.ts';
import type { TaskWriter } from './task-writer.ts';

/** How many milliseconds the updates of an agent may block the event loop. */
const longestHoldMs = 10;

/** The run that records. */
interface Recording {
  /** Set once the agent is not waited for any more. */
  readonly halted: unknown;
  /** The agent has no more to say. */
  ended(): Promise<void>;
}

/** Records the updates of the agent until it ends, its task ends, or the runner stops. */
export async function recordUpdates(
  iterator: AsyncIterator<TaskUpdate>,
  waiting: WaitingUpdates | undefined,
  task: TaskWriter,
  { monotonic }: Pick<Clock, 'monotonic'>,
  run: Recording,
): Promise<void> {
  let refusal: unknown;
  let since = monotonic();
  while (!run.halted) {
    let at = monotonic();
    if (at - since >= longestHoldMs) {
      // An agent that never waits, on a store that never does either, would otherwise block the process.
      await nextRound();
      at = monotonic();
      since = at;
    }
    task.enterAgent(at);
    const next: IteratorResult<TaskUpdate> = await (refusal && iterator.throw
      ? iterator.throw(refusal)
      : iterator.next());
    refusal = undefined;
    if (run.halted) return;
    if (next.done) return run.ended();
    try {
      checkUpdate(next.value);
      const update = task.files ? await task.files.kept(next.value) : next.value;
      if (run.halted) return;
      const written = waiting ? updateWith(update, waiting, task) : task.update(update);
      if (isPending(written)) await written;
    } catch (error) {
      // An update that is not allowed is thrown at the `yield`, where the agent can catch it.
      if (!A2AError.is(error) || !iterator.throw) throw error;
      refusal = error;
      continue;
    }
    const { closed, openTurn } = task.state;
    if (closed || !openTurn) break;
  }
  // The iterator is not asked for its next value, which would tell it so.
  if (!refusal) waiting?.stored();
}

/** Writes an update, in one commit with those that wait behind it. If one of them is not allowed, alone. */
async function updateWith(update: TaskUpdate, waiting: WaitingUpdates, task: TaskWriter): Promise<void> {
  try {
    const more = takeWaiting(update, waiting);
    await task.update(update, task.files ? await task.files.kept(more) : more);
  } catch (error) {
    if (!A2AError.is(error)) throw error;
    waiting.putBack();
    await task.update(update);
  }
}

/** Not awaited: an agent that never returns must not keep the task. Errors that it throws now are ignored. */
export function endQuietly(iterator: AsyncIterator<TaskUpdate>): void {
  try {
    Promise.resolve(iterator.return?.()).catch(() => {});
  } catch {
    // See above.
  }
}
