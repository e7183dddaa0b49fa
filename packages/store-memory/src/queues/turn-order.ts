import type { CallerRow, Moment, TaskRow } from '@batonjs/store/adapter';
import { contextOf, forgottenTurns, type WaitingCaller } from '@batonjs/store/rules';
import type { Log } from '../logs/log.ts';
import { SortedList } from '../order/sorted-list.ts';

/** A task with a place in the order of a schedule. */
interface Place {
  readonly log: Log;
  readonly queue: string;
  readonly at: number;
  readonly order: number;
}

const smallerFirst = (a: Place, b: Place): number => a.at - b.at || a.order - b.order;

/** Free tasks of each queue and caller, by `turnAt`. Holds nothing while no schedule is used. */
export class TurnOrder {
  readonly #queues = new Map<string, Map<string, SortedList<Place>>>();
  readonly #places = new Map<Log, Place>();
  /** The last turn of each caller of a queue, those whose last turn is the oldest first. */
  readonly #served = new Map<string, Map<string, number>>();
  #order = 0;

  /** Called for every row whose place changes. */
  replace(log: Log, after: TaskRow | undefined): void {
    const known = this.#places.get(log);
    if (known) this.#remove(known);
    if (after?.turnAt === undefined || after.queue === undefined) return;
    const { queue, turnAt, scope } = after;
    const place = { log, queue, at: turnAt, order: known?.order ?? ++this.#order };
    const callers = this.#queues.get(queue) ?? new Map<string, SortedList<Place>>();
    this.#queues.set(queue, callers);
    const tasks = callers.get(scope) ?? new SortedList<Place>(smallerFirst);
    callers.set(scope, tasks);
    tasks.add(place);
    this.#places.set(log, place);
  }

  callers(queue: string): WaitingCaller[] {
    const served = this.#served.get(queue);
    return Array.from(this.#queues.get(queue) ?? [], ([scope, tasks]) => {
      const [first] = tasks.ascending();
      return { scope, firstAt: Number(first?.at), turn: served?.get(scope) ?? 0 };
    });
  }

  /** Up to `limit` tasks of a caller that may start now. */
  ready(
    queue: string,
    scope: string,
    except: readonly string[],
    { now, orderNow }: Pick<Moment, 'now' | 'orderNow'>,
    limit: number,
  ): TaskRow[] {
    const rows: TaskRow[] = [];
    for (const { log, at } of this.#queues.get(queue)?.get(scope)?.ascending() ?? []) {
      if (at > orderNow || rows.length === limit) break;
      const { row } = log;
      const { waitingSince, dueAt = Number.POSITIVE_INFINITY } = row;
      const isReady = waitingSince !== undefined || dueAt <= now;
      if (isReady && !except.includes(contextOf(row))) rows.push(row);
    }
    return rows;
  }

  serve({ queue, scope, turn }: CallerRow): void {
    const served = this.#served.get(queue) ?? new Map<string, number>();
    this.#served.set(queue, served);
    served.delete(scope);
    if (turn > 0) served.set(scope, turn);
    for (const [oldest, last] of served) {
      if (last > forgottenTurns(turn)) return;
      served.delete(oldest);
    }
  }

  #remove({ log, queue, ...place }: Place): void {
    this.#places.delete(log);
    const callers = this.#queues.get(queue);
    const tasks = callers?.get(log.scope);
    tasks?.remove({ log, queue, ...place });
    if (tasks?.length === 0) callers?.delete(log.scope);
    if (callers?.size === 0) this.#queues.delete(queue);
  }
}
