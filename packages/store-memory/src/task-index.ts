import type { ListedTask, TaskPage } from '@batonjs/store';
import { cutPage, type ListSearch, type TaskRow } from '@batonjs/store/adapter';
import { isListed, isListedAlike, termsOf } from '@batonjs/store/rules';
import { Lists, olderFirst, type Place, type StateList } from './logs/lists.ts';
import type { Log } from './logs/log.ts';
import type { SortedList } from './order/sorted-list.ts';

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

function shown({ taskId, row: { head }, facts }: Log): ListedTask[] {
  return head ? [{ taskId, head, fact: facts.at(head.statusVersion) }] : [];
}
