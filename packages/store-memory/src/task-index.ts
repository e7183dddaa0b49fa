import { cutPage, type Row, type TaskPage, type TaskQuery } from '@batonjs/store';
import type { Log } from './log.ts';
import { SortedList } from './sorted-list.ts';

/** A place in the order of a list. */
interface Place {
  readonly statusAt: string;
  readonly taskId: string;
  readonly log?: Log;
}

/**
 * The places of all logs of a scope or context in one state; `''` is for logs without a state. A scope or context has
 * few groups, so that searching them costs less than a map for each of many contexts.
 */
interface Group {
  readonly state: string;
  readonly list: SortedList<Place>;
}

/** Older status first, of equals the smaller id. */
const olderFirst = (a: Place, b: Place): number =>
  a.statusAt < b.statusAt
    ? -1
    : a.statusAt > b.statusAt
      ? 1
      : a.taskId < b.taskId
        ? -1
        : a.taskId > b.taskId
          ? 1
          : 0;

const scopeOf = ({ log }: Place): string => log?.scope ?? '';

/** Older first too, where there are tasks of all scopes. */
const olderFirstAnywhere = (a: Place, b: Place): number =>
  olderFirst(a, b) || (scopeOf(a) < scopeOf(b) ? -1 : scopeOf(a) > scopeOf(b) ? 1 : 0);

/** How many logs may wait to be put in place: more would make the next page slow. */
const mostWaiting = 256;

/**
 * Finds a page among the tasks of a scope, at a cost that does not depend on their number. A log is put in its place
 * when a page is read: most tasks change a few times before, and only the last place matters.
 */
export class TaskIndex {
  readonly #groups = new Map<string, Group[]>();
  readonly #closed = new SortedList<Place>(olderFirstAnywhere);
  readonly #moved = new Set<Log>();

  /** Called for every log that was made or changed. */
  changed(log: Log, before: Row | undefined): void {
    if (before && isListedAlike(before, log.row)) return;
    this.#moved.add(log);
    if (this.#moved.size >= mostWaiting) this.#settle();
  }

  /** Called for every log that was deleted. */
  deleted(log: Log): void {
    this.#moved.delete(log);
    this.#remove(log);
  }

  page(scope: string, query: TaskQuery): TaskPage {
    this.#settle();
    const { contextId, state, statusSince = '', limit, answered } = query;
    const groups = this.#groups.get(keyOf(scope, contextId)) ?? [];
    const lists = groups
      .filter((group) => (state ? group.state === state : answered || group.state !== ''))
      .map(({ list }) => list);
    const since = { statusAt: statusSince, taskId: '' };
    const found = lists
      .flatMap((list) => newest(list, query))
      .sort((a, b) => olderFirst(b, a))
      .slice(0, limit)
      .map(show);
    const total = lists.reduce((sum, list) => sum + list.length - list.rank(since), 0);
    return cutPage(found, query, total);
  }

  /** Closed logs of all scopes, the oldest first. Do not change the index while iterating. */
  *closedBefore(time: string): Generator<Log> {
    this.#settle();
    for (const { log, statusAt } of this.#closed.ascending()) {
      if (statusAt >= time) return;
      yield log!;
    }
  }

  #settle(): void {
    for (const log of this.#moved) {
      this.#remove(log);
      this.#add(log);
    }
    this.#moved.clear();
  }

  #add(log: Log): void {
    const { scope, row } = log;
    const { state = '' } = row.head;
    const place = placeOf(log, row);
    log.placed = row;
    if (row.head.closed) this.#closed.add(place);
    for (const key of [keyOf(scope), keyOf(scope, row.head.contextId)]) {
      const groups = this.#groups.get(key) ?? [];
      if (groups.length === 0) this.#groups.set(key, groups);
      const known = groups.find((group) => group.state === state);
      const group = known ?? { state, list: new SortedList<Place>(olderFirst) };
      if (!known) groups.push(group);
      group.list.add(place);
    }
  }

  #remove(log: Log): void {
    if (!log.placed) return;
    const { head } = log.placed;
    const place = placeOf(log, log.placed);
    if (head.closed) this.#closed.remove(place);
    for (const key of [keyOf(log.scope), keyOf(log.scope, head.contextId)]) {
      const groups = this.#groups.get(key) ?? [];
      const at = groups.findIndex(({ state }) => state === (head.state ?? ''));
      groups[at]?.list.remove(place);
      if (groups[at]?.list.length === 0) groups.splice(at, 1);
      if (groups.length === 0) this.#groups.delete(key);
    }
  }
}

const isListedAlike = ({ head: a }: Row, { head: b }: Row): boolean =>
  a.statusAt === b.statusAt && a.state === b.state && a.contextId === b.contextId && a.closed === b.closed;

function newest(list: SortedList<Place>, { limit, after, statusSince = '' }: TaskQuery): Place[] {
  const found: Place[] = [];
  for (const place of list.descending(after)) {
    if (found.length === limit || place.statusAt < statusSince) break;
    found.push(place);
  }
  return found;
}

const placeOf = (log: Log, { head }: Row): Place => ({ statusAt: head.statusAt, taskId: log.taskId, log });

function show({ log }: Place) {
  const { taskId, row, facts } = log!;
  return { taskId, head: row.head, fact: facts[row.head.statusVersion - 1]! };
}

const keyOf = (scope: string, contextId?: string) =>
  contextId === undefined ? scope : `${scope}\0${contextId}`;
