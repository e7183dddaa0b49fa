import type { Found, TaskRow, Wanted } from '@batonjs/store/adapter';
import { contextOf, countedAs, isAsking, type QueueCounts, type TurnPlace } from '@batonjs/store/rules';
import { Groups } from '../groups.ts';
import type { Log } from '../logs/log.ts';
import { PriorityQueues, type Queued } from '../order/priority-queues.ts';
import { TurnOrder } from './turn-order.ts';

export type TurnQueues = ReturnType<typeof turnQueuesOf>;

/** Finds the tasks that can be claimed without visiting those that cannot. */
export function turnQueuesOf() {
  const order = new TurnOrder();
  // A task is in one of these at most.
  const waitingTurns = new PriorityQueues<Log>();
  const due = new PriorityQueues<Log>();
  const heldTurns = new PriorityQueues<Log>();
  const countsOfQueues = new CountsOfQueues();
  const byHolder = new Groups<string, Log>();

  return {
    /** Called for every row that replaces another; undefined stands for a log that is new or gone. */
    replace(log: Log, before: TaskRow | undefined, after: TaskRow | undefined): void {
      // Not asked of each row: turns that go on and tasks that end have no place there.
      if (
        (before && before.holder === undefined) ||
        (after?.holder === undefined && after?.head?.closed === false)
      )
        countsOfQueues.replace(log, before, after);
      if (before && after && isPlacedAlike(before, after)) return;
      if (before?.holder !== after?.holder) {
        if (before?.holder !== undefined) byHolder.delete(before.holder, log);
        if (after?.holder !== undefined) byHolder.add(after.holder, log);
      }
      if (before?.turnAt !== undefined || after?.turnAt !== undefined) order.replace(log, after);
      waitingTurns.delete(log);
      due.delete(log);
      heldTurns.delete(log);
      if (after?.queue === undefined) return;
      const { queue, waitingSince, dueAt, leaseUntil } = after;
      if (waitingSince !== undefined) waitingTurns.set(log, queue, waitingSince);
      else if (dueAt !== undefined) due.set(log, queue, dueAt);
      else if (leaseUntil !== undefined) heldTurns.set(log, queue, leaseUntil);
    },
    ready: (
      { queue, limit, left, aheadMs = 0 }: NonNullable<Wanted['ready']>,
      now: number,
      leaseNow: number,
    ): NonNullable<Found['ready']> => ({
      waiting: waitingTurns.due(queue, Number.POSITIVE_INFINITY, limit).map(rowOf),
      due: due.due(queue, now + aheadMs, limit).map(rowOf),
      left: heldTurns.due(queue, leaseNow + aheadMs, left).map(rowOf),
    }),
    /** The tasks that the holder has. */
    held: (holder: string): TaskRow[] => Array.from(byHolder.get(holder), rowOf),
    /** The tasks of the queue with a lease. */
    running: (queue: string): TurnPlace[] =>
      Array.from(heldTurns.items(queue), ({ scope, row }) => ({ scope, context: contextOf(row) })),
    /** How many tasks of the queue are waiting for a turn. */
    waiting: (queue: string): number => waitingTurns.count(queue),
    counts: (queue: string): QueueCounts => countsOfQueues.of(queue),
    order,
  };
}

const rowOf = ({ row }: Log): TaskRow => row;

const isPlacedAlike = (a: TaskRow, b: TaskRow): boolean =>
  a.queue === b.queue &&
  a.holder === b.holder &&
  a.waitingSince === b.waitingSince &&
  a.dueAt === b.dueAt &&
  a.leaseUntil === b.leaseUntil &&
  a.turnAt === b.turnAt;

/** A task that asks its client. */
class Question implements Queued {
  queued: Queued['queued'];
}

/** Counts the tasks of each queue that ask, and those that are postponed. Holds nothing for other tasks. */
class CountsOfQueues {
  readonly #questions = new Map<object, Question>();
  readonly #asked = new PriorityQueues<Question>();
  readonly #tasks = new Map<string, Map<string, number>>();

  /** Called for every row that replaces another. `task`: the same object each time. */
  replace(task: object, before: TaskRow | undefined, after: TaskRow | undefined): void {
    const was = countedAs(before);
    const is = countedAs(after);
    if (was === undefined && is === undefined) return;
    if (before?.queue !== undefined && was !== undefined) this.#add(before.queue, was, -1);
    if (after?.queue !== undefined && is !== undefined) this.#add(after.queue, is, 1);
    const known = this.#questions.get(task);
    if (known) this.#asked.delete(known);
    if (after?.queue === undefined || !isAsking(after)) {
      if (known) this.#questions.delete(task);
      return;
    }
    const question = known ?? new Question();
    this.#questions.set(task, question);
    this.#asked.set(question, after.queue, Date.parse(after.head?.statusAt ?? ''));
  }

  of(queue: string): QueueCounts {
    const tasks = Object.fromEntries(this.#tasks.get(queue) ?? []);
    return { tasks, askedAt: this.#asked.first(queue) };
  }

  #add(queue: string, name: string, tasks: number): void {
    const names = this.#tasks.get(queue) ?? new Map<string, number>();
    this.#tasks.set(queue, names);
    const count = (names.get(name) ?? 0) + tasks;
    if (count === 0) names.delete(name);
    else names.set(name, count);
    if (names.size === 0) this.#tasks.delete(queue);
  }
}
