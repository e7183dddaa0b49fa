import type { ListedTask, TaskPage } from '@batonjs/store';
import { cutPage, type ListSearch, type TaskRow } from '@batonjs/store/adapter';
import { isListed, isListedAlike, termsOf } from '@batonjs/store/rules';
import { LargeMap, Log, logsOf, type OneOrMore, withLog, withoutLog } from './logs/log.ts';
import { SortedList } from './order/sorted-list.ts';

/** How many logs may wait to be put in place: more would make the next page slow. */
const mostWaiting = 256;

/**
 * Finds a page among the tasks of a scope, at a cost that does not depend on their number. A log is put in its place
 * when a page is read: most tasks change a few times before, and only the last place matters.
 */
export class TaskIndex {
  readonly #scopes = new Lists();
  readonly #contexts = new Lists();
  readonly #terms = new Lists();
  /** Those that wait to be put in place, and some that do not any more. */
  #moved: Log[] = [];

  /** How many scopes, contexts and terms have logs. */
  get size(): number {
    return this.#scopes.size + this.#contexts.size + this.#terms.size;
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

  page(scope: string, search: ListSearch): TaskPage {
    this.#settle();
    // A total costs the same with `totalAtMost`.
    const {
      contextId,
      terms,
      state,
      statusSince = '',
      limit,
      bytes,
      after,
      answered,
      totalAtMost,
      ...others
    } = search;
    others satisfies Record<string, never>;
    const [all = this.#scopes.of(scope, scope), ...further] = [
      ...(contextId === undefined ? [] : [this.#contexts.of(contextId, scope)]),
      ...terms.map((term) => this.#terms.of(term, scope)),
    ].sort((one, other) => sizeOf(one) - sizeOf(other));
    // The smallest of these lists is searched for the logs that the others have too.
    const isFound = further.length === 0 ? undefined : ({ row }: Log) => isListed(row, search);
    const lists = all
      .filter((one) => (state ? one.state === state : answered || one.state !== ''))
      .map(({ list }) => list);
    const found = lists
      .flatMap((list) => newest(list, { limit, after, statusSince, isFound }))
      .sort((a, b) => olderFirst(b, a))
      .slice(0, limit)
      .flatMap(shown);
    const total = lists.reduce((sum, list) => sum + count(list, statusSince, isFound), 0);
    return cutPage(found, { limit, bytes }, total);
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

  #add(log: Log): void {
    const { scope, row } = log;
    if (!row.head) return;
    const { contextId, statusAt } = row.head;
    log.placed = row;
    log.statusAt = statusAt;
    this.#scopes.add(scope, log);
    this.#contexts.add(contextId, log);
    for (const term of termsOf(row.head)) this.#terms.add(term, log);
  }

  #remove(log: Log): void {
    const head = log.placedBy?.head;
    if (!head) return;
    this.#scopes.remove(log.scope, log);
    this.#contexts.remove(head.contextId, log);
    for (const term of termsOf(head)) this.#terms.remove(term, log);
  }
}

const sizeOf = (lists: readonly StateList[]): number => lists.reduce((sum, { list }) => sum + list.length, 0);

type IsFound = ((log: Log) => boolean) | undefined;

interface Wanted extends Pick<ListSearch, 'limit' | 'after'> {
  readonly statusSince: string;
  readonly isFound: IsFound;
}

function newest(list: SortedList<Log, Place>, { limit, after, statusSince, isFound }: Wanted): Log[] {
  const found: Log[] = [];
  for (const log of list.descending(after)) {
    if (found.length === limit || log.statusAt < statusSince) break;
    if (!isFound || isFound(log)) found.push(log);
  }
  return found;
}

/** How many of a list are that new, and are found. */
function count(list: SortedList<Log, Place>, statusSince: string, isFound: IsFound): number {
  if (!isFound) return list.length - list.rank({ statusAt: statusSince, taskId: '' });
  let found = 0;
  for (const log of list.descending()) {
    if (log.statusAt < statusSince) break;
    if (isFound(log)) found += 1;
  }
  return found;
}

const shown = ({ taskId, row: { head }, facts }: Log): ListedTask[] =>
  head ? [{ taskId, head, fact: facts.at(head.statusVersion) }] : [];

/** A place in the order of a list. */
type Place = Pick<Log, 'statusAt' | 'taskId'>;

/** The logs of a scope, or those of a scope in a context or with a term, in one state; `''` is for logs without a state. */
interface StateList {
  readonly state: string;
  readonly list: SortedList<Log, Place>;
}

/** The lists of each scope. A scope has few: searching them costs less than a map. */
type Scopes = Map<string, StateList[]>;

/** A key with more logs has lists. */
const mostUnlisted = 16;

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

/**
 * Logs under a key, by scope and state. Contexts and terms are keys without their scope: hardly ever do several scopes have the same
 * one, and a key that is joined of both would be a text of its own for each log.
 */
class Lists {
  /** The logs of keys that have few are in no order: lists would take as much memory as the logs. */
  readonly #byKey = new LargeMap<OneOrMore | Scopes>();

  /** How many keys have logs. */
  get size(): number {
    return this.#byKey.size;
  }

  /** The lists of a scope under a key. */
  of(key: string, scope: string): readonly StateList[] {
    const known = this.#byKey.get(key);
    if (known instanceof Map) return known.get(scope) ?? [];
    const lists: StateList[] = [];
    for (const log of logsOf(known)) if (log.scope === scope) addTo(lists, log);
    return lists;
  }

  add(key: string, log: Log): void {
    const known = this.#byKey.get(key);
    if (known instanceof Map) {
      addToScope(known, log);
      return;
    }
    const few = withLog(known, log);
    this.#byKey.set(key, few instanceof Log || few.length <= mostUnlisted ? few : scopesOf(few));
  }

  remove(key: string, log: Log): void {
    const known = this.#byKey.get(key);
    const left = known instanceof Map ? withoutIn(known, log) : withoutLog(known, log);
    if (!left) this.#byKey.delete(key);
    else this.#byKey.set(key, left);
  }
}

function scopesOf(logs: readonly Log[]): Scopes {
  const scopes: Scopes = new Map();
  for (const log of logs) addToScope(scopes, log);
  return scopes;
}

function addToScope(scopes: Scopes, log: Log): void {
  const lists = scopes.get(log.scope);
  if (lists) addTo(lists, log);
  else scopes.set(log.scope, [newList(log)]);
}

/** Undefined if none is left. */
function withoutIn(scopes: Scopes, log: Log): Scopes | undefined {
  const lists = scopes.get(log.scope) ?? [];
  const at = lists.findIndex(({ state }) => state === stateOf(log));
  lists[at]?.list.remove(log);
  if (lists[at]?.list.length === 0) lists.splice(at, 1);
  if (lists.length === 0) scopes.delete(log.scope);
  return scopes.size === 0 ? undefined : scopes;
}

function addTo(lists: StateList[], log: Log): void {
  const known = lists.find(({ state }) => state === stateOf(log));
  if (known) known.list.add(log);
  else lists.push(newList(log));
}

function newList(log: Log): StateList {
  const list = new SortedList<Log, Place>(olderFirst);
  list.add(log);
  return { state: stateOf(log), list };
}

const stateOf = ({ placedBy }: Log): string => placedBy?.head?.state ?? '';
