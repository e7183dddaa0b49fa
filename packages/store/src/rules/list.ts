import type { Head } from '@batonjs/lifecycle';
import type { TaskFilter, TaskQuery } from '../port/list.ts';
import type { TaskRow } from './task-row.ts';

type Tests = {
  readonly [Name in keyof TaskFilter]-?: (head: Head, wanted: TaskFilter[Name]) => boolean;
};

/**
 * What each member of a filter means for a log with this head, for databases that search with code. Others have a table of
 * their own with these keys.
 */
const tests: Tests = {
  contextId: (head, contextId) => contextId === undefined || head.contextId === contextId,
  state: (head, state) => state === undefined || head.state === state,
  statusSince: (head, since) => since === undefined || head.statusAt >= since,
  answered: (head, answered) => answered === true || head.state !== undefined,
};

/** Whether a list with this filter has the task. */
export const isListed = ({ head }: TaskRow, filter: TaskFilter): boolean =>
  head !== undefined &&
  (Object.keys(tests) as (keyof TaskFilter)[]).every((name) => tests[name](head, filter[name] as never));

/** What of a head decides where a log stands in lists: which filters find it, and its place among what they find. */
const decidesPlace: Readonly<Record<keyof Head, boolean>> = {
  state: true,
  closed: true,
  contextId: true,
  statusAt: true,
  version: false,
  statusVersion: false,
  generation: false,
  dueAt: false,
  turn: false,
  attempt: false,
};
const deciding = (Object.keys(decidesPlace) as (keyof Head)[]).filter((name) => decidesPlace[name]);

/** Whether both stand at the same place in every list, so that no list has to be touched. */
export const isListedAlike = (one: Head | undefined, other: Head | undefined): boolean =>
  one === other || (!!one && !!other && deciding.every((name) => one[name] === other[name]));

/** A place in the order of a list. */
export interface ListPlace {
  readonly statusAt: string;
  readonly taskId: string;
}

/** The order of a list: the newest status first, of equals the largest id. */
export const newestFirst = (a: ListPlace, b: ListPlace): number =>
  -(compare(a.statusAt, b.statusAt) || compare(a.taskId, b.taskId));

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The place of a log that is listed. */
export const listPlace = ({ head, taskId }: TaskRow): ListPlace => ({
  statusAt: head?.statusAt ?? '',
  taskId,
});

/** Those of the rows that a list with this filter has, in its order, and those of them that follow the page before. */
export function listed(
  rows: readonly TaskRow[],
  query: TaskQuery,
): { readonly all: readonly TaskRow[]; readonly rest: readonly TaskRow[] } {
  const all = rows.filter((row) => isListed(row, query));
  all.sort((a, b) => newestFirst(listPlace(a), listPlace(b)));
  const { after } = query;
  return { all, rest: after ? all.filter((row) => newestFirst(listPlace(row), after) > 0) : all };
}
