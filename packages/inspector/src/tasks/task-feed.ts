import type { TaskFilter, TaskListUpdate } from '../api/task.ts';
import { problemOf } from '../http/reply.ts';
import { pause } from '../pause.ts';
import type { TaskSource } from './task-source.ts';

/** The first page of a list and the counts, and both again whenever they change. Ends when the signal aborts. */
export async function* taskFeed(
  source: TaskSource,
  filter: TaskFilter,
  signal: AbortSignal,
): AsyncGenerator<TaskListUpdate, void, void> {
  let known = '';
  let counted = '';
  while (!signal.aborted) {
    try {
      const list = await source.list(filter);
      const text = JSON.stringify(list);
      if (text !== known) {
        known = text;
        yield { type: 'list', list };
        const counts = await source.counts(filter.scope);
        const numbers = JSON.stringify(counts);
        if (numbers !== counted) {
          counted = numbers;
          yield { type: 'counts', counts };
        }
      }
    } catch (error) {
      known = '';
      yield { type: 'problem', message: problemOf(error).message };
    }
    await pause(source.everyMs, signal);
  }
}
