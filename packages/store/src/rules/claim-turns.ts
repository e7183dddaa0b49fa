import type { ClaimRequest, Lease, Scope, TurnSchedule } from '../port/lease.ts';
import type { TaskRow } from '../port/rows.ts';
import { type CallerRow, type Change, type Found, foundOf, type Step } from './change.ts';
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
    decide: (found) => turnClaim(request, schedule, found, elsewhere)([]),
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

/**
 * One claim: the tasks that it takes in any case, then those that may start beside the ones that run. Returns the function
 * that asks for the tasks of its callers until there are enough. `known`: those of the first callers.
 */
function turnClaim(
  request: ClaimRequest,
  schedule: TurnSchedule,
  found: Found,
  elsewhere: readonly TurnPlace[],
) {
  const { queue, limit } = request;
  const { row: before, running, callers } = foundOf(found, 'schedule');
  const { waiting, due, left } = foundOf(found, 'ready');
  // The leases that the holder has, and those that ran out: their turns are counted already.
  const counted = claimedAmong([...foundOf(found, 'held'), ...left], request, found);
  const gate = new TurnGate(schedule, [...elsewhere, ...running]);
  const most = Math.min(limit - counted.length, gate.room);
  const inOrder = callers
    .filter(({ scope, firstAt }) => firstAt <= found.orderNow && gate.admitsCaller(scope))
    .sort((a, b) => a.turn - b.turn || a.firstAt - b.firstAt);

  function next(
    known: readonly (readonly TaskRow[])[],
  ): Change<readonly Lease[], never> | Step<readonly Lease[], never> {
    const missing = most - known.filter((tasks) => tasks.length > 0).length;
    const asked = inOrder.slice(known.length, known.length + Math.max(0, missing));
    if (asked.length === 0) return pick(known);
    const callers = asked.map(({ scope }) => ({ scope, except: gate.fullContexts(scope) }));
    return {
      wanted: { turns: { queue, callers, limit: most } },
      decide: (more) => next([...known, ...foundOf(more, 'turns')]),
    };
  }

  function pick(callers: readonly (readonly TaskRow[])[]): Change<readonly Lease[], never> {
    // No schedule ordered them when they were stored, or the clock of a process that was ahead did.
    const plain = [...waiting, ...due].filter(
      ({ aheadMs, turnAt = 0 }) => aheadMs === undefined || turnAt > found.orderNow,
    );
    const lists = [plain, ...callers].map((rows) => rows.map(candidate));
    const rows = pickTurns<Candidate>(gate, lists, most).map(({ row }) => row);
    const started = claimedAmong(rows, request, found, most);
    const change = leases(request, [...counted, ...started]);
    return started.length === 0 ? change : { ...change, partly: undefined, ...remembered(started) };
  }

  /** That these callers got turns, in this order. The queue's row is written by every claim that starts turns. */
  function remembered(started: readonly Claimed[]): Pick<Change<unknown>, 'queue' | 'callers'> {
    const callers = new Map<string, CallerRow>();
    let turns = before?.turns ?? 0;
    for (const { before: task } of started)
      if (task.aheadMs !== undefined) callers.set(task.scope, { queue, scope: task.scope, turn: ++turns });
    const revision = before ? before.revision + 1 : Math.floor(found.now);
    return { queue: { before, after: { queue, revision, turns } }, callers: [...callers.values()] };
  }

  return next;
}

const candidate = (row: TaskRow): Candidate => ({ scope: row.scope, context: contextOf(row), row });
