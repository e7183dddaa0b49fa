import type { AgentClient } from '@batonjs/client';
import { lookedAt, readPages, shortText, titleOf } from '@batonjs/operator/search';
import type { Task } from '@batonjs/protocol';
import { A2AError } from '@batonjs/protocol/errors';
import { textOf } from '@batonjs/protocol/parts';
import type { AgentLink } from '../agents/inspected.ts';
import { type StateCounts, states, type TaskFilter, type TaskList, type TaskRow } from '../api/task.ts';
import { isIn, requestOf } from './filters.ts';
import type { TaskSource } from './task-feed.ts';

const pageSize = 100;

/** The tasks of an agent as it lists them; those that the inspector has `seen`, if it lists none. */
export function agentTasks(link: AgentLink, seen: () => readonly TaskRow[]): TaskSource {
  let canList = true;
  /** `isPlain`: each agent with a list can be asked for this. */
  const listed = async <T>(
    read: (client: AgentClient) => Promise<T>,
    otherwise: () => T,
    isPlain = true,
  ): Promise<T> => {
    if (!canList) return otherwise();
    try {
      return await read(await link.client());
    } catch (error) {
      if (!isPlain || !A2AError.is(error) || !unlistable.has(error.reason)) throw error;
      canList = false;
      return otherwise();
    }
  };
  return {
    everyMs: 2_000,
    async list(filter, after) {
      const { contextId: _, status: __, statusTimestampAfter: ___, ...ofExtensions } = requestOf(filter);
      const isPlain = Object.values(ofExtensions).every((asked) => asked === undefined);
      try {
        return await listed(
          (client) => read(client, filter, after),
          () => ({ tasks: seen().filter(isIn(filter)), source: 'seen' as const }),
          isPlain,
        );
      } catch (error) {
        if (isPlain || !A2AError.is(error)) throw error;
        // An agent that cannot be asked for labels has no task with one.
        return { tasks: [], source: 'polled' };
      }
    },
    counts: () =>
      listed(
        async (client) => {
          const totals = await Promise.all(
            states.map(async (status) => (await client.listTasks({ status, pageSize: 1 })).totalSize),
          );
          return Object.fromEntries(states.map((state, index) => [state, totals[index]])) as StateCounts;
        },
        () => {
          const counts: StateCounts = {};
          for (const { state } of seen()) counts[state] = (counts[state] ?? 0) + 1;
          return counts;
        },
      ),
  };
}

/** How agents without an operation refuse it. Those of A2A 0.3 have no list on most bindings. */
const unlistable = new Set<string>(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION', 'METHOD_NOT_ALLOWED']);

async function read(client: AgentClient, filter: TaskFilter, after: string | undefined): Promise<TaskList> {
  const request = requestOf(filter);
  const page = async (pageToken: string | undefined) => {
    const asked = { pageSize, historyLength: fewMessages, ...(pageToken && { pageToken }), ...request };
    const { tasks, totalSize: total, nextPageToken: next } = await client.listTasks(asked);
    return { tasks: (tasks ?? []).map((task) => rowOf(task, fewMessages)), total, next };
  };
  return { ...(await readPages(page, lookedAt(filter), after, pageSize)), source: 'polled' };
}

/** How many messages of each task are asked for: the first one is among them while there are not more. */
const fewMessages = 4;

/** The row of a task that an agent showed, with at most so many of its messages. */
export function rowOf({ id, contextId = '', status, history = [] }: Task, most = Infinity): TaskRow {
  const { state, timestamp: statusAt, message } = status;
  const [first] = history;
  // The first message is known where fewer were shown than asked for, or where the client said it.
  const isFirst = first?.role === 'ROLE_USER' && (history.length < most || history.length === 1);
  const title = isFirst ? titleOf(first) : undefined;
  return { id, contextId, state, statusAt, title, text: message && shortText(textOf(message)) };
}
