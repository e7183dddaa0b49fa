import { type ClaimRequest, pickTurns, type Row, TurnGate, type TurnSchedule } from '@batonjs/store';
import type { Log } from './logs/log.ts';
import { SortedList } from './order/sorted-list.ts';

/** A task that a schedule orders, while it is free. */
interface Place {
  readonly log: Log;
  readonly queue: string;
  /** From when a claim may take it. */
  readonly from: number;
  /** `from` less `aheadMs`: the smallest comes first. */
  readonly at: number;
  readonly order: number;
  /** Since when it waits for a turn; undefined for one that becomes due. */
  readonly since: number | undefined;
}

/** The tasks of one queue that a schedule orders. */
interface Queue {
  readonly callers: Map<string, SortedList<Place>>;
  /** When each caller got its last turn, as a number that grows; the earliest first. */
  readonly served: Map<string, number>;
}

const smallerFirst = (a: Place, b: Place): number => a.at - b.at || a.order - b.order;

/** The most callers whose last turn is remembered. A caller that got none of so many comes first anyway. */
const mostServed = 10_000;

/** Free tasks in the order of a schedule. Holds nothing while no schedule is used. */
export class Turns {
  readonly #queues = new Map<string, Queue>();
  readonly #places = new Map<Log, Place>();
  #order = 0;

  /** Called for every row that replaces another, if a schedule orders the task before or after. */
  replace(log: Log, before: Row | undefined, after: Row | undefined, now: number): void {
    const known = this.#places.get(log);
    if (known) this.#remove(known);
    if (after?.queue === undefined || after.aheadMs === undefined || after.head.closed) return;
    const queue = this.#queues.get(after.queue) ?? { callers: new Map(), served: new Map() };
    this.#queues.set(after.queue, queue);
    if (after.holder !== undefined) {
      if (before?.holder === undefined) remember(queue.served, log.scope, ++this.#order);
      return;
    }
    const since = after.wanted ? (known?.since ?? now) : undefined;
    const { dueAt } = after.head;
    if (since === undefined && dueAt === undefined) return;
    const from = since ?? Date.parse(dueAt!);
    const at = from - after.aheadMs;
    const place: Place = { log, queue: after.queue, from, at, order: known?.order ?? ++this.#order, since };
    const tasks = queue.callers.get(log.scope) ?? new SortedList<Place>(smallerFirst);
    queue.callers.set(log.scope, tasks);
    tasks.add(place);
    this.#places.set(log, place);
  }

  /**
   * Up to `limit` logs that may get a turn, in order. `running`: the logs of the queue that have a lease; `plain`: free
   * ones that no schedule orders, which come first.
   */
  pick(
    { queue, limit }: ClaimRequest,
    schedule: TurnSchedule,
    now: number,
    running: Iterable<Log>,
    plain: Iterable<Log>,
  ): Log[] {
    const gate = new TurnGate(schedule, Array.from(running, turnOf));
    const { callers = [], served } = this.#queues.get(queue) ?? {};
    const ready = [...callers].flatMap(([scope, tasks]) => {
      const [first] = tasks.ascending();
      if (!first || first.at > now || !gate.admitsCaller(scope)) return [];
      return [{ tasks, first, turn: served?.get(scope) ?? 0 }];
    });
    ready.sort((a, b) => a.turn - b.turn || smallerFirst(a.first, b.first));
    const ordered = ready.map(({ tasks }) => readyIn(tasks, now));
    return pickTurns(gate, [Array.from(plain, turnOf), ...ordered], limit).map(({ log }) => log);
  }

  #remove(place: Place): void {
    const { log } = place;
    this.#places.delete(log);
    const queue = this.#queues.get(place.queue);
    const tasks = queue?.callers.get(log.scope);
    tasks?.remove(place);
    if (tasks?.length === 0) queue?.callers.delete(log.scope);
  }
}

const turnOf = (log: Log) => ({ log, scope: log.scope, context: log.row.head.contextId });

function* readyIn(tasks: SortedList<Place>, now: number) {
  for (const { log, from, at } of tasks.ascending()) {
    if (at > now) return;
    if (from <= now) yield turnOf(log);
  }
}

/** Moves the caller to the end, and forgets the first one if there are too many. */
function remember(served: Map<string, number>, scope: string, turn: number): void {
  served.delete(scope);
  served.set(scope, turn);
  if (served.size > mostServed) served.delete(served.keys().next().value!);
}
