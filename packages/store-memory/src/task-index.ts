import {
  cutPage,
  isListedAlike,
  type ListedTask,
  type TaskPage,
  type TaskQuery,
  type TaskRow,
} from '@batonjs/store';
import { LargeMap } from './logs/large-map.ts';
import { type Log, logsOf, type OneOrMore, withLog, withoutLog } from './logs/log.ts';
import { SortedList } from './order/sorted-list.ts';

/** A place in the order of a list. */
type Place = Pick<Log, 'statusAt' | 'taskId'>;

/** The logs of a scope or context in one state; `''` is for logs without a state. */
interface Group {
  readonly state: string;
  readonly list: SortedList<Log, Place>;
}

/** A scope or context with more logs has groups. */
const mostUngrouped = 16;

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

/** Older first too, where there are tasks of all scopes. */
const olderFirstAnywhere = (a: Log, b: Log): number =>
  olderFirst(a, b) || (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : 0);

/** How many logs may wait to be put in place: more would make the next page slow. */
const mostWaiting = 256;

/**
 * Finds a page among the tasks of a scope, at a cost that does not depend on their number. A log is put in its place
 * when a page is read: most tasks change a few times before, and only the last place matters.
 */
export class TaskIndex {
  /** The logs of scopes and contexts that have few, in no order: groups would take as much memory as the logs. */
  readonly #few = new LargeMap<OneOrMore>();
  /** Those with many logs. Each has few groups: searching them costs less than a map. */
  readonly #many = new Map<string, Group[]>();
  readonly #closed = new SortedList<Log>(olderFirstAnywhere);
  /** Those that wait to be put in place, and some that do not any more. */
  #moved: Log[] = [];

  /** How many scopes and contexts have logs. */
  get size(): number {
    return this.#few.size + this.#many.size;
  }

  /** Called for every log that was made or changed. */
  changed(log: Log, before: TaskRow | undefined): void {
    if (!log.row.head || (before && isListedAlike(before.head, log.row.head))) return;
    if (log.row.head.closed) {
      // A closed log never moves again: it is placed now.
      this.#move(log);
      return;
    }
    if (log.isMoved) return;
    log.isMoved = true;
    this.#moved.push(log);
    if (this.#moved.length >= mostWaiting) this.#settle();
  }

  /** Called for every log that was deleted. */
  deleted(log: Log): void {
    log.isMoved = false;
    this.#remove(log);
  }

  page(scope: string, query: TaskQuery): TaskPage {
    this.#settle();
    // A total costs the same with `totalAtMost`.
    const {
      contextId,
      state,
      statusSince = '',
      limit,
      bytes,
      after,
      answered,
      totalAtMost,
      ...others
    } = query;
    others satisfies Record<string, never>;
    const lists = this.#groupsOf(keyOf(scope, contextId))
      .filter((group) => (state ? group.state === state : answered || group.state !== ''))
      .map(({ list }) => list);
    const since = { statusAt: statusSince, taskId: '' };
    const found = lists
      .flatMap((list) => newest(list, { limit, after, statusSince }))
      .sort((a, b) => olderFirst(b, a))
      .slice(0, limit)
      .flatMap(shown);
    const total = lists.reduce((sum, list) => sum + list.length - list.rank(since), 0);
    return cutPage(found, { limit, bytes }, total);
  }

  /** Closed logs of all scopes, the oldest first. Do not change the index while iterating. */
  *closedBefore(time: string): Generator<Log> {
    this.#settle();
    for (const log of this.#closed.ascending()) {
      if (log.statusAt >= time) return;
      yield log;
    }
  }

  #settle(): void {
    for (const log of this.#moved) if (log.isMoved) this.#move(log);
    this.#moved = [];
  }

  #move(log: Log): void {
    log.isMoved = false;
    this.#remove(log);
    this.#add(log);
  }

  #groupsOf(key: string): readonly Group[] {
    return this.#many.get(key) ?? groupsWith(logsOf(this.#few.get(key)));
  }

  #add(log: Log): void {
    const { scope, row } = log;
    if (!row.head) return;
    const { contextId, closed, statusAt } = row.head;
    log.placed = row;
    log.statusAt = statusAt;
    if (closed) this.#closed.add(log);
    this.#addUnder(keyOf(scope), log);
    this.#addUnder(keyOf(scope, contextId), log);
  }

  #addUnder(key: string, log: Log): void {
    const many = this.#many.get(key);
    if (many) {
      addTo(many, log);
      return;
    }
    const few = withLog(this.#few.get(key), log);
    if (logsOf(few).length <= mostUngrouped) {
      this.#few.set(key, few);
      return;
    }
    this.#few.delete(key);
    this.#many.set(key, groupsWith(logsOf(few)));
  }

  #remove(log: Log): void {
    const head = placedBy(log)?.head;
    if (!head) return;
    const { contextId, closed, state = '' } = head;
    if (closed) this.#closed.remove(log);
    this.#removeUnder(keyOf(log.scope), state, log);
    this.#removeUnder(keyOf(log.scope, contextId), state, log);
  }

  #removeUnder(key: string, state: string, log: Log): void {
    const many = this.#many.get(key);
    if (many) {
      removeFrom(many, state, log);
      if (many.length === 0) this.#many.delete(key);
      return;
    }
    const few = withoutLog(this.#few.get(key), log);
    if (few) this.#few.set(key, few);
    else this.#few.delete(key);
  }
}

const keyOf = (scope: string, contextId?: string): string =>
  contextId === undefined ? scope : `${scope}\0${contextId}`;

/** The row by which it is placed, if it is. */
const placedBy = (log: Log): TaskRow | undefined => (log.isClosed ? log.row : log.placed);

function addTo(groups: Group[], log: Log): void {
  const state = placedBy(log)?.head?.state ?? '';
  const known = groups.find((group) => group.state === state);
  const group = known ?? { state, list: new SortedList<Log, Place>(olderFirst) };
  if (!known) groups.push(group);
  group.list.add(log);
}

function removeFrom(groups: Group[], state: string, log: Log): void {
  const at = groups.findIndex((group) => group.state === state);
  groups[at]?.list.remove(log);
  if (groups[at]?.list.length === 0) groups.splice(at, 1);
}

function groupsWith(logs: readonly Log[]): Group[] {
  const groups: Group[] = [];
  for (const log of logs) addTo(groups, log);
  return groups;
}

function newest(list: SortedList<Log, Place>, { limit, after, statusSince = '' }: TaskQuery): Log[] {
  const found: Log[] = [];
  for (const log of list.descending(after)) {
    if (found.length === limit || log.statusAt < statusSince) break;
    found.push(log);
  }
  return found;
}

function shown({ taskId, row: { head }, facts }: Log): ListedTask[] {
  return head ? [{ taskId, head, fact: facts.at(head.statusVersion) }] : [];
}
