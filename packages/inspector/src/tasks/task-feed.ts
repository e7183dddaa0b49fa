import { sleep } from '@batonjs/protocol/timing';
import type { StateCounts, TaskFilter, TaskList, TaskListUpdate, Unserved } from '../api/task.ts';
import { problemOf } from '../http/reply.ts';

/** An agent whose tasks are listed. */
export interface Listed {
  readonly id: string;
  readonly tasks: TaskSource;
}

/** The feeds of several lists, as they come. Ends when the signal aborts. */
export async function* taskFeeds(
  lists: readonly { readonly agent: Listed; readonly filter: TaskFilter }[],
  signal: AbortSignal,
): AsyncGenerator<TaskListUpdate, void, void> {
  const feeds = lists.map(({ agent, filter }) => taskFeed(agent, filter, signal));
  const take = async (feed: AsyncGenerator<TaskListUpdate, void, void>) => ({ feed, ...(await feed.next()) });
  const pending = new Map(feeds.map((feed) => [feed, take(feed)]));
  while (pending.size > 0) {
    const { feed, value, done } = await Promise.race(pending.values());
    if (done) pending.delete(feed);
    else {
      pending.set(feed, take(feed));
      yield value as TaskListUpdate;
    }
  }
}

/** The first page of a list and the counts, and both again whenever they change. Ends when the signal aborts. */
export async function* taskFeed(
  { id: agent, tasks: source }: Listed,
  filter: TaskFilter,
  signal: AbortSignal,
): AsyncGenerator<TaskListUpdate, void, void> {
  let known = '';
  let counted = '';
  let waiting = '[]';
  while (!signal.aborted) {
    try {
      const list = await source.list(filter);
      const text = JSON.stringify(list);
      if (text !== known) {
        known = text;
        yield { agent, type: 'list', list };
        const counts = await source.counts(filter.scope);
        const numbers = JSON.stringify(counts);
        if (numbers !== counted) {
          counted = numbers;
          yield { agent, type: 'counts', counts };
        }
      }
      const unserved = await source.unserved?.(filter.scope);
      const waits = JSON.stringify(unserved?.versions ?? []);
      if (unserved && waits !== waiting) {
        waiting = waits;
        yield { agent, type: 'unserved', unserved };
      }
    } catch (error) {
      known = '';
      yield { agent, type: 'problem', message: problemOf(error).message };
    }
    await sleep(source.everyMs, signal);
  }
}

/** Where the list of an agent's tasks comes from. */
export interface TaskSource {
  /** One page, newest first. `after` is the `next` of the page before. */
  list(filter: TaskFilter, after?: string): Promise<TaskList>;
  /** How many tasks are in each state, whatever the filter of the list. */
  counts(scope?: number): Promise<StateCounts>;
  /** The tasks of a scope that wait for versions which no process runs. Absent where only an agent is asked. */
  unserved?(scope?: number): Promise<Unserved>;
  /** How often the first page is read again, in milliseconds. */
  readonly everyMs: number;
}
