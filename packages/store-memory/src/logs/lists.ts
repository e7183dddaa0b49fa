import { SortedList } from '../order/sorted-list.ts';
import { LargeMap, Log, logsOf, type OneOrMore, withLog, withoutLog } from './log.ts';

/** A place in the order of a list. */
export type Place = Pick<Log, 'statusAt' | 'taskId'>;

/** The logs of a scope, or those of a scope in a context or with a term, in one state; `''` is for logs without a state. */
export interface StateList {
  readonly state: string;
  readonly list: SortedList<Log, Place>;
}

/** The lists of each scope. A scope has few: searching them costs less than a map. */
type Scopes = Map<string, StateList[]>;

/** A key with more logs has lists. */
const mostUnlisted = 16;

/** Older status first, of equals the smaller id. */
export const olderFirst = (a: Place, b: Place): number =>
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
export class Lists {
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
