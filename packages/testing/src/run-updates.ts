import type { State, TaskUpdate } from '@batonjs/lifecycle';
import { checkEnd, checkUpdate, waitingIn } from '@batonjs/server/turns';

/** Takes the updates of an agent as the server does. An agent can catch what `record` throws, where it yielded the update. */
export async function runUpdates(
  updates: AsyncIterable<TaskUpdate>,
  record: (update: TaskUpdate) => void,
  state: () => State,
): Promise<void> {
  const iterator = updates[Symbol.asyncIterator]();
  let refusal: unknown;
  for (;;) {
    const next: IteratorResult<TaskUpdate> = await (refusal && iterator.throw
      ? iterator.throw(refusal)
      : iterator.next());
    refusal = undefined;
    if (next.done) return checkEnd(state());
    try {
      checkUpdate(next.value);
      record(next.value);
    } catch (error) {
      if (!iterator.throw) throw error;
      refusal = error;
      continue;
    }
    const { closed, task } = state();
    if (closed || task?.status.state === 'TASK_STATE_INPUT_REQUIRED') {
      waitingIn(updates)?.stored();
      await iterator.return?.();
      return;
    }
  }
}
