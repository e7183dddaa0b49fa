import { tryJson } from '@batonjs/protocol/json';
import type { TaskQuery } from '@batonjs/store';
import type { TaskList, TaskRow } from '../api/task.ts';
import { RequestError } from '../http/reply.ts';

/** Where a page of a list ends. */
export type Place = NonNullable<TaskQuery['after']>;

/** Reads a place as a request has it. */
export function readPlace(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  const { statusAt, taskId } = Object(tryJson(text)) as Record<string, unknown>;
  if (typeof statusAt === 'string' && typeof taskId === 'string') return { statusAt, taskId };
  throw new RequestError(400, 'This is no place in a list of tasks');
}

type Timed = Pick<TaskRow, 'statusAt'>;

export const newestFirst = ({ statusAt: one = '' }: Timed, { statusAt: other = '' }: Timed): number =>
  one < other ? 1 : one > other ? -1 : 0;

type Listed = Omit<TaskList, 'source'>;

/** One list of those of several callers. It ends where the first of them goes on: what follows may be newer than the others'. */
export function together(lists: readonly Listed[]): Listed {
  const places = lists.flatMap(({ next }) => readPlace(next) ?? []);
  const [end] = places.sort((one, other) => (isBefore(one, other) ? -1 : 1));
  const rows = lists.flatMap(({ tasks }) => tasks).sort(newestFirst);
  const tasks = end ? rows.filter(({ id, statusAt = '' }) => !isBefore(end, { statusAt, taskId: id })) : rows;
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((all, one = 0) => all + one, 0);
  const searched = lists.flatMap((list) => list.searched ?? []);
  const of = sum(searched.map((one) => one.of));
  return {
    tasks,
    ...(lists.every(({ total }) => total !== undefined) && { total: sum(lists.map(({ total }) => total)) }),
    ...(searched.length > 0 && { searched: { tasks: sum(searched.map((one) => one.tasks)), of } }),
    ...(lists.some((list) => list.searchesTexts) && { searchesTexts: true }),
    ...(end && { next: JSON.stringify(end) }),
  };
}

/** Whether a task at one place stands above one at the other. */
const isBefore = (one: Place, other: Place): boolean =>
  one.statusAt > other.statusAt || (one.statusAt === other.statusAt && one.taskId > other.taskId);
