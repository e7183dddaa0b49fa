import { type Claimed, type ClaimRequest, claimed, type Row, type TurnSchedule } from '@batonjs/store';
import { Groups } from './groups.ts';
import type { Log, Logs } from './logs/log.ts';
import { Schedule } from './order/schedule.ts';
import { Turns } from './turns.ts';

/** A log that a claim may have, and what the claim makes of its row. */
export interface Candidate extends Claimed {
  readonly log: Log;
}

/** Finds the tasks that can be claimed without visiting those that cannot. */
export class ReadyQueue {
  /** Tasks that wait for a turn or a deadline, by the wall clock. */
  readonly #schedule = new Schedule<Log>();
  /** Held tasks, by the end of the lease on the clock of leases. */
  readonly #held = new Schedule<Log>();
  readonly #byHolder = new Groups<string, Log>();
  readonly #waiting = new Map<string, number>();
  readonly #turns = new Turns();
  readonly #logs: Logs;

  constructor(logs: Logs) {
    this.#logs = logs;
  }

  /** Called for every row that replaces another; undefined stands for a log that is new or gone. */
  replace(log: Log, before: Row | undefined, after: Row | undefined, now: number): void {
    if (before && after && isScheduledAlike(before, after)) return;
    if (before?.holder !== undefined) this.#byHolder.delete(before.holder, log);
    if (after?.holder !== undefined) this.#byHolder.add(after.holder, log);
    if (before?.aheadMs !== undefined || after?.aheadMs !== undefined)
      this.#turns.replace(log, before, after, now);
    if (isWaiting(before)) this.#count(before.queue, -1);
    if (isWaiting(after)) this.#count(after.queue, 1);
    const at = isWaiting(after) ? now : after && readyAt(after);
    this.#schedule.delete(log);
    this.#held.delete(log);
    if (after?.queue !== undefined && at !== undefined) {
      const schedule = after.holder === undefined ? this.#schedule : this.#held;
      schedule.set(log, after.queue, at);
    }
  }

  /** Up to `limit` logs that the claim may have, first those whose lease the token holds already. */
  candidates(request: ClaimRequest, now: number, leaseNow: number): Candidate[] {
    const { holder, limit, queue, taskId, scope, schedule } = request;
    const held = [...this.#byHolder.get(holder)];
    const most = limit + held.length;
    const due =
      taskId !== undefined
        ? this.#logs.named(taskId)
        : schedule
          ? this.#scheduled(request, schedule, now, leaseNow)
          : [...this.#schedule.due(queue, now, most), ...this.#held.due(queue, leaseNow, most)]
              .sort((a, b) => b.forMs - a.forMs)
              .map(({ item }) => item);
    const candidates: Candidate[] = [];
    for (const log of new Set([...held, ...due])) {
      if (candidates.length === limit) break;
      if (taskId !== undefined && !isNamed(log, taskId, scope)) continue;
      const claim = claimed(log.row, request, now, leaseNow);
      if (claim) candidates.push({ log, ...claim });
    }
    return candidates;
  }

  /** Those whose lease ran out, then those that may get a turn. */
  #scheduled(request: ClaimRequest, schedule: TurnSchedule, now: number, leaseNow: number): Log[] {
    const { queue, limit, isKept } = request;
    const left = this.#held.due(queue, leaseNow, Number.POSITIVE_INFINITY).map(({ item }) => item);
    const taken = left.filter(({ row }) => !isKept?.(row.holder!)).slice(0, limit);
    const plain = this.#schedule.due(queue, now, limit).map(({ item }) => item);
    const picked = this.#turns.pick(
      { ...request, limit: limit - taken.length },
      schedule,
      now,
      this.#held.items(queue),
      plain.filter(({ row }) => row.aheadMs === undefined),
    );
    return [...taken, ...picked];
  }

  /** How many tasks of the queue are waiting for a turn. */
  waiting(queue: string): number {
    return this.#waiting.get(queue) ?? 0;
  }

  #count(queue: string, by: 1 | -1): void {
    const count = this.waiting(queue) + by;
    if (count === 0) this.#waiting.delete(queue);
    else this.#waiting.set(queue, count);
  }
}

const isNamed = (log: Log, taskId: string, scope: string | undefined): boolean =>
  log.taskId === taskId && (scope === undefined || log.scope === scope);

/** Whether the task is waiting for a turn: one is wanted and no token holds the lease. */
export const isWaiting = (row: Row | undefined): row is Row & { readonly queue: string } =>
  row?.queue !== undefined && row.wanted && row.holder === undefined && !row.head.closed;

const isScheduledAlike = (a: Row, b: Row): boolean =>
  a.queue === b.queue &&
  a.holder === b.holder &&
  a.aheadMs === b.aheadMs &&
  isWaiting(a) === isWaiting(b) &&
  readyAt(a) === readyAt(b);

/**
 * When the task can be claimed if nothing changes before: on the clock of leases if it is held. Undefined if never.
 */
function readyAt({ holder, leaseUntil, head }: Row): number | undefined {
  if (head.closed) return undefined;
  if (holder !== undefined) return leaseUntil;
  return head.dueAt === undefined ? undefined : Date.parse(head.dueAt);
}
