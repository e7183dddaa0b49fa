import { describe, expect, it } from 'vitest';
import type { Found } from '../../src/adapter.ts';
import type { Lease } from '../../src/index.ts';
import type { ClaimRequest } from '../../src/port/lease.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import { type Claimed, claimed, claimStep, renewStep } from '../../src/rules/claim.ts';
import { leaseReading, type TaskFacts } from '../../src/rules/task-row.ts';
import { head, row } from '../a-row.ts';

const now = 1_000;
const moment = { now, orderNow: now, leaseNow: now };
const held = (more: Partial<TaskFacts> = {}) => row({ fence: 3, holder: 'h', leaseUntil: now + 50, ...more });
const request: ClaimRequest = { queue: 'q', holder: 'me', ttlMs: 100, limit: 9 };
const at = (ms: number) => new Date(ms).toISOString();
const due = (ms: number, more: Partial<TaskFacts> = {}) => row({ head: head(2, { dueAt: at(ms) }), ...more });

describe('what a claim makes of a row', () => {
  const past = at(now - 1);

  it.each<[string, TaskRow, Claimed['cause'] | undefined]>([
    ['nothing to do', row(), undefined],
    ['a wanted turn', row({ wanted: true }), 'wanted'],
    ['a wanted turn of another queue', row({ wanted: true, queue: 'p' }), undefined],
    ['a wanted turn of no queue', row({ wanted: true, queue: undefined }), undefined],
    ['a live lease', held(), undefined],
    ['a live lease and a wanted turn', held({ wanted: true }), undefined],
    ['a lease that ran out', held({ leaseUntil: now }), 'expired'],
    ['a lease that runs out next', held({ leaseUntil: now + 1 }), undefined],
    ['a lease of our own', held({ holder: 'me' }), 'held'],
    ['a lease of our own that ran out', held({ holder: 'me', leaseUntil: 1 }), 'held'],
    ['a clock that ran out', due(now - 1), 'due'],
    ['a clock that runs out now', due(now), 'due'],
    ['a clock that has time', due(now + 1), undefined],
    ['a clock that ran out under a live lease', held({ head: head(2, { dueAt: past }) }), undefined],
    ['a wanted turn and a clock', due(now - 1, { wanted: true }), 'wanted'],
    ['a closed log', row({ wanted: true, head: head(2, { closed: true, dueAt: past }) }), undefined],
    ['a closed log of our own', held({ holder: 'me', head: head(2, { closed: true }) }), undefined],
    ['webhooks only', row({ version: 0, head: undefined, wanted: true }), undefined],
  ])('with %s: %3$s', (_, one, cause) => {
    expect(claimed(one, request, moment)?.cause).toBe(cause);
  });

  it.each<[string, TaskRow, Partial<TaskRow>]>([
    ['wanted', row({ wanted: true, fence: 3 }), { wanted: false, fence: 4, holder: 'me' }],
    ['left by a holder', held({ wanted: true, leaseUntil: now }), { wanted: false, fence: 4, holder: 'me' }],
    ['due', due(now - 1, { fence: 3 }), { fence: 4, holder: 'me' }],
    ['in a schedule', row({ wanted: true, aheadMs: 5 }), { wanted: false, fence: 1, holder: 'me' }],
    ['held by the same token', held({ holder: 'me', wanted: true }), {}],
  ])('that is %s is held from then on, and waits for nothing', (_, before, changes) => {
    expect(claimed(before, request, moment)?.after).toEqual({
      ...before,
      ...changes,
      revision: expect.any(Number),
      leaseUntil: now + 100,
      leasedAt: now,
      waitingSince: undefined,
      dueAt: undefined,
      turnAt: undefined,
    });
  });

  it('has a revision that the claim of no other token makes of the same row', () => {
    const revisions = Array.from({ length: 100 }, (_, n) => {
      const { before, after } = claimed(row({ wanted: true }), { ...request, holder: `h${n}` }, moment)!;
      expect(after.revision).toBeGreaterThan(before.revision);
      return after.revision;
    });
    expect(new Set(revisions).size).toBe(100);
  });
});

/** The ids of the tasks that a claim gives out, of those that were found. */
function claim(found: Partial<Found>, more: Partial<ClaimRequest> = {}) {
  const change = claimStep({ ...request, ...more }).decide({ ...moment, held: [], ...found });
  if ('decide' in change) throw new TypeError('Such a claim looks once');
  return { ...change, ids: change.result.map(({ taskId }) => taskId) };
}

describe('a claim', () => {
  const waiting = row({ taskId: 'waiting', wanted: true });
  const left = held({ taskId: 'left', leaseUntil: now - 300 });
  const dueOne = due(now - 200, { taskId: 'due' });
  const mine = held({ taskId: 'mine', holder: 'me' });
  const ready = { waiting: [waiting], due: [dueOne], left: [left] };

  it('gives its holder what it has first, then what could have been claimed longest, each once', () => {
    expect(claim({ held: [mine], ready: { ...ready, left: [left, mine] } }).ids).toEqual([
      'mine',
      'left',
      'due',
      'waiting',
    ]);
    expect(claim({ held: [mine], ready }, { limit: 2 }).ids).toEqual(['mine', 'left']);
  });

  it('compares leases with their own clock', () => {
    const change = claimStep(request).decide({
      now: now + 10_000,
      orderNow: now + 10_000,
      leaseNow: now,
      held: [],
      ready,
    });
    expect('result' in change && change.result.map(({ taskId }) => taskId)).toEqual([
      'due',
      'waiting',
      'left',
    ]);
  });

  it('takes the lease first that ran out first', () => {
    const later = held({ taskId: 'later', leaseUntil: now - 100 });
    expect(claim({ ready: { waiting: [], due: [], left: [later, left] } }).ids).toEqual(['left', 'later']);
  });

  it('leaves out leases that the caller keeps, and looks at more of them then', () => {
    expect(claim({ ready }, { isKept: (holder) => holder === 'h' }).ids).toEqual(['due', 'waiting']);
    expect(claimStep(request).wanted.ready).toEqual({ queue: 'q', limit: 9, left: 9 });
    expect(claimStep({ ...request, isKept: () => true }).wanted.ready!.left).toBeGreaterThan(200);
  });

  it('that finds nothing writes nothing', () => {
    const { ids, tasks } = claim({ ready: { waiting: [], due: [], left: [] } });
    expect([ids, tasks]).toEqual([[], undefined]);
  });

  it('for one task looks at that one only', () => {
    const step = claimStep({ ...request, task: waiting });
    expect(step.wanted).toEqual({ tasks: [{ scope: 's', taskId: 'waiting' }] });
    const found = (task: TaskRow | undefined) =>
      step.decide({ ...moment, tasks: [{ row: task, webhooks: [], once: undefined }] });
    expect(found(waiting)).toMatchObject({ result: [{ taskId: 'waiting', cause: 'wanted', fence: 1 }] });
    expect(found(undefined)).toEqual({ result: [] });
  });

  it('may be written in part, and then gives out what was written', () => {
    const change = claim({ ready });
    expect(change.partly!([change.tasks![1]!]).map(({ taskId }) => taskId)).toEqual([change.ids[1]]);
  });
});

describe('a renewal', () => {
  const lease = (taskId: string, more: Partial<Lease> = {}): Lease => ({
    ...{ scope: 's', taskId, queue: 'q', holder: 'h', fence: 3, cause: 'held', ...more },
  });
  const renew = (leases: readonly Lease[], rows: readonly (TaskRow | undefined)[]) => {
    const step = renewStep(leases, 500);
    const tasks = rows.map((one) => ({ row: one, webhooks: [], once: undefined }));
    const change = step.decide({ ...moment, tasks });
    if ('decide' in change) throw new TypeError('A renewal looks once');
    return { ...change, wanted: step.wanted };
  };

  it('keeps what is still held for so long from now, and says what that is', () => {
    const leases = [lease('a'), lease('b', { fence: 2 }), lease('c', { holder: 'x' }), lease('d')];
    const change = renew(leases, [
      held({ taskId: 'a' }),
      held({ taskId: 'b' }),
      held({ taskId: 'c' }),
      undefined,
    ]);
    expect(change.result).toEqual([leases[0]]);
    expect(change.tasks!.map(({ after }) => [after!.taskId, after!.leaseUntil, after!.leasedAt])).toEqual([
      ['a', now + 500, now],
    ]);
    expect(change.partly!([])).toEqual([]);
    expect(change.partly!(change.tasks!)).toEqual([leases[0]]);
  });

  it('of a lease that is given twice is one, and gives it twice', () => {
    const change = renew([lease('a'), lease('a')], [held({ taskId: 'a' })]);
    expect([change.wanted.tasks!.length, change.tasks!.length, change.result.length]).toEqual([1, 1, 2]);
  });

  it('of nothing that is held writes nothing', () => {
    const { result, tasks } = renew([lease('a')], [row({ taskId: 'a' })]);
    expect([result, tasks]).toEqual([[], undefined]);
  });
});

it('the reading of a free task has no holder', () => {
  expect(leaseReading(row({ fence: 3 }))).toStrictEqual({ fence: 3, isWanted: false });
  expect(leaseReading(held({ wanted: true }))).toStrictEqual({ fence: 3, holder: 'h', isWanted: true });
});
