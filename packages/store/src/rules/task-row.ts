import type { Head } from '@batonjs/lifecycle';
import type { TaskState } from '@batonjs/protocol';
import type { LeaseReading } from '../port/lease.ts';
import type { TaskRow } from '../port/rows.ts';
import type { Moment } from './moment.ts';

/** The columns from which the others follow. */
export type TaskFacts = Omit<TaskRow, 'revision' | 'waitingSince' | 'dueAt' | 'turnAt' | 'endedAt'>;

/**
 * The row that replaces `before`: its places in queues and schedules, and whether it may be deleted. `isUndelivered`:
 * a webhook of the task has not heard of all facts.
 */
export function placed(
  before: TaskRow | undefined,
  facts: TaskFacts,
  isUndelivered: boolean,
  { now, orderNow }: Pick<Moment, 'now' | 'orderNow'>,
): TaskRow {
  const { head, queue, wanted, holder, aheadMs } = facts;
  const isFree = head !== undefined && !head.closed && holder === undefined && queue !== undefined;
  const waitingSince = isFree && wanted ? (before?.waitingSince ?? orderNow) : undefined;
  const dueAt = isFree && !wanted && head.dueAt !== undefined ? Date.parse(head.dueAt) : undefined;
  const from = waitingSince ?? dueAt;
  return {
    scope: facts.scope,
    taskId: facts.taskId,
    revision: before ? before.revision + 1 : Math.floor(now),
    version: facts.version,
    head,
    lastAt: facts.lastAt,
    webhooks: facts.webhooks,
    queue,
    wanted,
    fence: facts.fence,
    holder,
    aheadMs,
    waitingSince,
    dueAt,
    leaseUntil: facts.leaseUntil,
    leasedAt: facts.leasedAt,
    turnAt: from === undefined || aheadMs === undefined ? undefined : from - aheadMs,
    endedAt: head?.closed && !isUndelivered ? endOf(head) : undefined,
  };
}

/** When a closed log counts as having ended, in milliseconds since 1970. */
export const endOf = ({ statusAt, keepMs = 0 }: Head): number => Date.parse(statusAt) + keepMs;

/** The state that a log is listed and counted under: `''` while it is no task. */
export const stateOf = ({ head }: TaskRow): string => head?.state ?? '';

/** The context of a log: `''` while it is empty. */
export const contextOf = ({ head }: TaskRow): string => head?.contextId ?? '';

/** The reading of a row's lease. */
export const leaseReading = ({ fence, holder, wanted }: TaskRow): LeaseReading => ({
  fence,
  ...(holder !== undefined && { holder }),
  isWanted: wanted,
});

/** The states in which a task waits for its client. */
export const askingStates: readonly TaskState[] = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

/** Whether a task waits for an answer of its client: no process has it, and it wants none. */
export const isAsking = (row: TaskRow): boolean => {
  const name = countedAs(row);
  return name !== undefined && name !== postponed;
};

/** Whether a turn of the task begins or goes on at a later time. */
export const isPostponed = (row: TaskRow): boolean => countedAs(row) === postponed;

/**
 * The name under which a queue counts a row beside those that wait: the state in which it asks, `put-off`, or none. A row
 * with a holder has none: callers on the way of each commit look at that first.
 */
export function countedAs(row: TaskRow | undefined): string | undefined {
  if (row?.head === undefined || row.holder !== undefined || row.wanted || row.queue === undefined)
    return undefined;
  const { state } = row.head;
  if (state !== undefined && askingStates.includes(state)) return state;
  return row.dueAt === undefined ? undefined : postponed;
}

/** The `countedAs` of turns that are postponed. */
export const postponed = 'put-off';

const mark = '\u001fversion\u001f';

/** Where a task is claimed from while its turn is pinned to a version; undefined: to none. */
export const pinnedQueue = (queue: string, version: string | null | undefined): string =>
  typeof version === 'string' ? queue + mark + version : queue;

/** The queue of the commits and claims that name it. */
export function plainQueue(queue: string): string {
  const end = queue.indexOf(mark);
  return end < 0 ? queue : queue.slice(0, end);
}

/** The version that a task is pinned to, of a queue as the row has it. */
export const versionIn = (queue: string): string | undefined => queue.split(mark)[1];
