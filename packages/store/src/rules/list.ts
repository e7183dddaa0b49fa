import type { Head } from '@batonjs/lifecycle';
import { transitions } from '@batonjs/lifecycle/internals';
import type { TaskRow } from '../port/rows.ts';
import type { TaskFilter, TaskQuery } from '../port/task-store.ts';

type Tests<Name extends keyof TaskFilter> = {
  readonly [Each in Name]-?: (head: Head, wanted: TaskFilter[Each]) => boolean;
};

/** What a filter means that each database searches in a way of its own: by an index, its order, or a part of it. */
const tests: Tests<'contextId' | 'state' | 'statusSince' | 'answered'> = {
  contextId: (head, contextId) => contextId === undefined || head.contextId === contextId,
  state: (head, state) => state === undefined || head.state === state,
  statusSince: (head, since) => since === undefined || head.statusAt >= since,
  answered: (head, answered) => answered === true || head.state !== undefined,
};

/**
 * Every other filter but the text, which no head has: the member of a head whose words it names. No database needs to
 * know them: it looks up terms.
 */
const words: Readonly<Record<Exclude<keyof TaskFilter, keyof typeof tests | 'text'>, WordsOf<Head>>> = {
  labels: 'labels',
  skill: 'skills',
  code: 'code',
};

type WordsOf<Row> = { [Name in keyof Row]-?: Row[Name] extends Words ? Name : never }[keyof Row];
type Words = readonly string[] | string | undefined;
type Worded = keyof typeof words;
const worded = Object.keys(words) as Worded[];
const none: readonly string[] = [];

/** The terms by which a log with this head is found, each once. Called for every commit: most have none. */
export function termsOf(head: Head | undefined): readonly string[] {
  let terms = none;
  if (!head) return terms;
  for (const name of worded) {
    const found = head[words[name]];
    if (found) terms = withWords(terms, name, found);
  }
  return terms;
}

const withWords = (terms: readonly string[], name: Worded, found: Words): readonly string[] =>
  found?.length ? [...new Set([...terms, ...[found].flat().map((word) => `${name}:${word}`)])] : terms;

/** A query as a database gets it: filters by words are terms. */
export type ListSearch = Omit<TaskQuery, Worded | 'text'> & {
  /** Only logs that have all of these; see `termsOf`. */
  readonly terms: readonly string[];
};

/** The search of a query, apart from its text. */
export function listSearch({ text: _, ...query }: TaskQuery): ListSearch {
  const rest = { ...query };
  let terms = none;
  for (const name of worded) {
    terms = withWords(terms, name, query[name]);
    delete rest[name];
  }
  return { ...rest, terms };
}

const taskStates = Object.keys(transitions);

/** The states under whose lists a search looks; `''` is that of logs that are no tasks. */
export const statesOf = ({ state, answered }: Pick<ListSearch, 'state' | 'answered'>): readonly string[] => {
  if (state !== undefined) return [state];
  return answered ? [...taskStates, ''] : taskStates;
};

/** Whether a search by these finds the task. */
export const isListed = (
  { head }: Pick<TaskRow, 'head'>,
  { terms = none, ...search }: Partial<ListSearch>,
): boolean =>
  head !== undefined &&
  (Object.keys(tests) as (keyof typeof tests)[]).every((name) => tests[name](head, search[name] as never)) &&
  (terms.length === 0 || isSubset(terms, termsOf(head)));

const isSubset = (some: readonly string[], all: readonly string[]): boolean =>
  some.every((one) => all.includes(one));

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
  labels: true,
  skills: true,
  code: true,
  keepMs: false,
  costs: false,
};
const deciding = (Object.keys(decidesPlace) as (keyof Head)[]).filter((name) => decidesPlace[name]);

/** Whether both stand at the same place in every list, so that no list has to be touched. */
export const isListedAlike = (one: Head | undefined, other: Head | undefined): boolean =>
  one === other ||
  (!!one &&
    !!other &&
    deciding.every((name) => one[name] === other[name] || isAlike(one[name], other[name])));

const isAlike = (one: Head[keyof Head], other: Head[keyof Head]): boolean =>
  Array.isArray(one) && Array.isArray(other) && isSubset(one, other) && isSubset(other, one);

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

/** Those of the rows that a search finds, in its order, and those of them that follow the page before. */
export function listed(
  rows: readonly TaskRow[],
  search: ListSearch,
): { readonly all: readonly TaskRow[]; readonly rest: readonly TaskRow[] } {
  const all = rows.filter((row) => isListed(row, search));
  all.sort((a, b) => newestFirst(listPlace(a), listPlace(b)));
  const { after } = search;
  return { all, rest: after ? all.filter((row) => newestFirst(listPlace(row), after) > 0) : all };
}
