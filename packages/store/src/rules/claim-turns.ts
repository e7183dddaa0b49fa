import type { ClaimRequest, Lease, Scope, TurnSchedule } from '../port/lease.ts';
import type { TaskRow } from '../port/rows.ts';
import {
  type CallerRow,
  type Change,
  type Found,
  foundOf,
  type QueueRow,
  type Step,
  type WaitingCaller,
} from './change.ts';
import { type Claimed, claimedAmong, leases, readyFor } from './claim.ts';
import { contextOf, pickTurns, TurnGate, type TurnPlace } from './task-row.ts';

/** The decision about a claim that follows a schedule. `elsewhere`: turns of the queue that run in other parts of the store. */
export function claimTurnsStep(
  request: ClaimRequest,
  schedule: TurnSchedule,
  elsewhere: readonly TurnPlace[] = [],
): Step<readonly Lease[], never> {
  const { queue, holder, limit } = request;
  return {
    wanted: { held: { queue, holder, limit }, ready: readyFor(request), schedule: { queue } },
    isMostlyIdle: true,
    decide: (found) => new TurnClaim(request, schedule, found, elsewhere).next([]),
  };
}

/** The decision to forget the last turn of a caller. No claim gives out turns at the same time. */
export const forgetTurnsStep = (queue: string, scope: Scope): Step<undefined, never> => ({
  wanted: { schedule: { queue } },
  isMostlyIdle: true,
  decide: (found) => {
    const { row: before } = foundOf(found, 'schedule');
    if (!before) return { result: undefined };
    const after = { ...before, revision: before.revision + 1 };
    return { result: undefined, queue: { before, after }, callers: [{ queue, scope, turn: 0 }] };
  },
});

/** A task that may be picked. */
interface Candidate extends TurnPlace {
  readonly row: TaskRow;
}

/** One claim: the tasks that it takes in any case, then those that may start beside the ones that run. */
class TurnClaim {
  readonly #request: ClaimRequest;
  readonly #found: Found;
  /** The leases that the holder has, and those that ran out: their turns are counted already. */
  readonly #counted: readonly Claimed[];
  readonly #gate: TurnGate;
  readonly #callers: readonly WaitingCaller[];
  /** How many turns may start. */
  readonly #most: number;

  constructor(request: ClaimRequest, schedule: TurnSchedule, found: Found, elsewhere: readonly TurnPlace[]) {
    const { running, callers } = foundOf(found, 'schedule');
    this.#request = request;
    this.#found = found;
    const taken = [...foundOf(found, 'held'), ...foundOf(found, 'ready').left];
    this.#counted = claimedAmong(taken, request, found);
    const gate = new TurnGate(schedule, [...elsewhere, ...running]);
    this.#gate = gate;
    this.#most = Math.min(request.limit - this.#counted.length, gate.room);
    this.#callers = callers
      .filter(({ scope, firstAt }) => firstAt <= found.orderNow && gate.admitsCaller(scope))
      .sort((a, b) => a.turn - b.turn || a.firstAt - b.firstAt);
  }

  /** `known`: the tasks of the first callers. Asks for those of more callers until there are enough. */
  next(
    known: readonly (readonly TaskRow[])[],
  ): Change<readonly Lease[], never> | Step<readonly Lease[], never> {
    const most = this.#most;
    const missing = most - known.filter((tasks) => tasks.length > 0).length;
    const asked = this.#callers.slice(known.length, known.length + Math.max(0, missing));
    if (asked.length === 0) return this.#pick(known);
    const callers = asked.map(({ scope }) => ({ scope, except: this.#gate.fullContexts(scope) }));
    return {
      wanted: { turns: { queue: this.#request.queue, callers, limit: most } },
      decide: (more) => this.next([...known, ...foundOf(more, 'turns')]),
    };
  }

  #pick(callers: readonly (readonly TaskRow[])[]): Change<readonly Lease[], never> {
    const { waiting, due } = foundOf(this.#found, 'ready');
    // No schedule ordered them when they were stored, or the clock of a process that was ahead did.
    const plain = [...waiting, ...due].filter(
      ({ aheadMs, turnAt = 0 }) => aheadMs === undefined || turnAt > this.#found.orderNow,
    );
    const lists = [plain, ...callers].map((rows) => rows.map(candidate));
    const picked = pickTurns<Candidate>(this.#gate, lists, this.#most);
    const rows = picked.map(({ row }) => row);
    const started = claimedAmong(rows, this.#request, this.#found, this.#most);
    const change = leases(this.#request, [...this.#counted, ...started]);
    return started.length === 0 ? change : { ...change, partly: undefined, ...this.#remembered(started) };
  }

  /** That these callers got turns, in this order. The queue's row is written by every claim that starts turns. */
  #remembered(started: readonly Claimed[]): Pick<Change<unknown>, 'queue' | 'callers'> {
    const { queue } = this.#request;
    const { row: before } = foundOf(this.#found, 'schedule');
    const callers = new Map<string, CallerRow>();
    let turns = before?.turns ?? 0;
    for (const { before: task } of started)
      if (task.aheadMs !== undefined) callers.set(task.scope, { queue, scope: task.scope, turn: ++turns });
    const revision = before ? before.revision + 1 : Math.floor(this.#found.now);
    const after: QueueRow = { queue, revision, turns };
    return { queue: { before, after }, callers: [...callers.values()] };
  }
}

const candidate = (row: TaskRow): Candidate => ({ scope: row.scope, context: contextOf(row), row });
