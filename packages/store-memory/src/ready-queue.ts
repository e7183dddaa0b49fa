import { type ClaimRequest, claimable, type Row } from '@batonjs/store';
import { Groups } from './groups.ts';
import type { Log } from './log.ts';
import { Schedule } from './schedule.ts';

/** Finds what can be claimed without looking at what cannot. */
export class ReadyQueue {
  /** What waits for a turn or for its deadline, on the wall clock. */
  readonly #schedule = new Schedule<Log>();
  /** What is held, by when the lease ends on the clock of leases. */
  readonly #held = new Schedule<Log>();
  readonly #byTaskId = new Groups<string, Log>();
  readonly #byHolder = new Groups<string, Log>();
  readonly #waiting = new Map<string, number>();

  /** To be told of every row that takes the place of another; undefined where there is none. */
  replace(log: Log, before: Row | undefined, after: Row | undefined, now: number): void {
    if (before && after && isScheduledAlike(before, after)) return;
    if (before?.holder !== undefined) this.#byHolder.delete(before.holder, log);
    if (after?.holder !== undefined) this.#byHolder.add(after.holder, log);
    if (isWaiting(before)) this.#count(before.queue, -1);
    if (isWaiting(after)) this.#count(after.queue, 1);
    const at = isWaiting(after) ? now : after && readyAt(after);
    this.#schedule.delete(log);
    this.#held.delete(log);
    if (after?.queue !== undefined && at !== undefined) {
      const schedule = after.holder === undefined ? this.#schedule : this.#held;
      schedule.set(log, after.queue, at);
      this.#byTaskId.add(log.taskId, log);
    } else this.#byTaskId.delete(log.taskId, log);
  }

  /** Up to `limit` logs that may be claimed now, those the token holds already first. */
  claimable(request: ClaimRequest, now: number, leaseNow: number): Log[] {
    const { holder, limit, queue, taskId } = request;
    const held = [...this.#byHolder.get(holder)];
    const most = limit + held.length;
    const due =
      taskId === undefined
        ? [...this.#schedule.due(queue, now, most), ...this.#held.due(queue, leaseNow, most)]
            .sort((a, b) => b.forMs - a.forMs)
            .map(({ item }) => item)
        : this.#byTaskId.get(taskId);
    return [...new Set([...held, ...due])]
      .filter(
        (log) =>
          (taskId === undefined || log.taskId === taskId) && claimable(log.row, request, now, leaseNow),
      )
      .slice(0, limit);
  }

  /** How many open logs of the queue want a turn that nobody runs. */
  waiting(queue: string): number {
    return this.#waiting.get(queue) ?? 0;
  }

  #count(queue: string, by: 1 | -1): void {
    const count = this.waiting(queue) + by;
    if (count === 0) this.#waiting.delete(queue);
    else this.#waiting.set(queue, count);
  }
}

/** Whether the log wants a turn that nobody runs. */
export const isWaiting = (row: Row | undefined): row is Row & { readonly queue: string } =>
  row?.queue !== undefined && row.wanted && row.holder === undefined && !row.head.closed;

const isScheduledAlike = (a: Row, b: Row): boolean =>
  a.queue === b.queue && a.holder === b.holder && isWaiting(a) === isWaiting(b) && readyAt(a) === readyAt(b);

/** When the log can be claimed even if nothing happens to it: on the clock of leases if it is held. Undefined if never. */
function readyAt({ holder, leaseUntil, head }: Row): number | undefined {
  if (head.closed) return undefined;
  if (holder !== undefined) return leaseUntil;
  return head.dueAt === undefined ? undefined : Date.parse(head.dueAt);
}
