import { describe, expect, it } from 'vitest';
import type { Found, QueueRow } from '../../src/adapter.ts';
import type { TurnSchedule } from '../../src/index.ts';
import type { ClaimRequest } from '../../src/port/lease.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import { claimTurnsStep } from '../../src/rules/claim-turns.ts';
import type { WaitingCaller } from '../../src/rules.ts';
import { head, row, writtenAt } from '../a-row.ts';

const now = 1_000;
const request: ClaimRequest = { queue: 'q', holder: 'me', ttlMs: 100, limit: 9 };

/** A task `a1` is the first of caller `a`; `a1:x` is in context `x`. It waits, the higher its number the shorter. */
function task(name: string, more: object = {}): TaskRow {
  const [taskId = '', contextId = 'c'] = name.split(':');
  const order = { wanted: true, aheadMs: 100 - Number(taskId.slice(1)) };
  return row({ scope: taskId[0]!, taskId, head: head(2, { contextId }), ...order, ...more });
}
const names = (text: string) => text.split(' ').filter(Boolean);
const place = (name: string) => ({ scope: name[0]!, context: name.split(':')[1] ?? 'c' });

interface Situation {
  readonly waits: string;
  readonly running?: string;
  readonly plain?: readonly TaskRow[];
  readonly left?: readonly TaskRow[];
  readonly held?: readonly TaskRow[];
  readonly turns?: Readonly<Record<string, number>>;
  readonly row?: QueueRow;
}

/** What a claim does, with what it wants to know on the way. */
function claim(
  { waits, running = '', plain = [], left = [], held = [], turns = {}, row: queue }: Situation,
  schedule: TurnSchedule,
  more: Partial<ClaimRequest> = {},
  elsewhere: string = '',
) {
  const tasks = names(waits).map((name) => task(name));
  const of = (scope: string) => tasks.filter((one) => one.scope === scope);
  const callers = [...new Set(tasks.map(({ scope }) => scope))].map((scope): WaitingCaller => {
    return { scope, firstAt: Math.min(...of(scope).map(({ turnAt }) => turnAt!)), turn: turns[scope] ?? 0 };
  });
  const looks: string[][] = [];
  const found = ({ turns: wanted }: { turns?: NonNullable<Parameters<typeof answer>[0]> }): Found =>
    wanted ? answer(wanted) : first;
  const answer = (wanted: {
    callers: readonly { scope: string; except: readonly string[] }[];
    limit: number;
  }): Found => {
    looks.push(wanted.callers.map(({ scope }) => scope));
    return {
      ...{ now, orderNow: now, leaseNow: now },
      turns: wanted.callers.map(({ scope, except }) =>
        of(scope)
          .filter(({ head }) => !except.includes(head!.contextId))
          .slice(0, wanted.limit),
      ),
    };
  };
  const first: Found = {
    ...{ now, orderNow: now, leaseNow: now, held },
    ready: { waiting: plain, due: [], left },
    schedule: { row: queue, running: names(running).map(place), callers },
  };
  const step = claimTurnsStep({ ...request, ...more }, schedule, names(elsewhere).map(place));
  let decision = step.decide(first);
  while ('decide' in decision) decision = decision.decide(found(decision.wanted));
  return { ...decision, ids: decision.result.map(({ taskId }) => taskId), looks };
}

describe('a claim of a schedule', () => {
  it.each<[string, Situation, TurnSchedule, Partial<ClaimRequest>, string]>([
    ['one of each caller in turn', { waits: 'a1 a2 a3 b1 b2 c1' }, {}, {}, 'a1 b1 c1 a2 b2 a3'],
    ['no more than asked for', { waits: 'a1 a2 b1 b2' }, {}, { limit: 3 }, 'a1 b1 a2'],
    [
      'the caller first whose last turn is the longest ago',
      { waits: 'a1 b1 c1', turns: { a: 3, b: 1, c: 2 } },
      {},
      {},
      'b1 c1 a1',
    ],
    ['no more than may run', { waits: 'a1 a2 b1', running: 'z z' }, { concurrency: 4 }, {}, 'a1 b1'],
    ['nothing while as many run as may', { waits: 'a1', running: 'z z' }, { concurrency: 2 }, {}, ''],
    [
      'no more of a caller than may run',
      { waits: 'a1 a2 a3 b1', running: 'a' },
      { perCaller: 2 },
      {},
      'a1 b1',
    ],
    [
      'no more of a context than may run',
      { waits: 'a1 a2 a3:d b1', running: 'b' },
      { perContext: 1 },
      {},
      'a1 a3',
    ],
  ])('gives out %s', (_, situation, schedule, more, ids) => {
    expect(claim(situation, schedule, more).ids).toEqual(names(ids));
  });

  it('counts turns that run elsewhere', () => {
    expect(claim({ waits: 'a1 a2 b1' }, { perCaller: 1, concurrency: 3 }, {}, 'a z').ids).toEqual(['b1']);
  });

  it('asks for no more callers than it has room for, and for more if some have nothing', () => {
    const { looks, ids } = claim(
      { waits: 'a1 b1 c1 d1 e1', running: 'a b' },
      { perContext: 1 },
      { limit: 2 },
    );
    expect([looks, ids]).toEqual([
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      ['c1', 'd1'],
    ]);
    expect(claim({ waits: 'a1 a2', running: 'z' }, { concurrency: 1 }).looks).toEqual([]);
  });

  it('does not look at callers whose first task is due later', () => {
    const later = claim({ waits: 'a1' }, {}, {});
    expect(later.ids).toEqual(['a1']);
    const step = claimTurnsStep(request, {});
    const callers = [{ scope: 'a', firstAt: now + 1, turn: 0 }];
    const found = { now, orderNow: now, leaseNow: now, held: [], ready: { waiting: [], due: [], left: [] } };
    expect(step.decide({ ...found, schedule: { row: undefined, running: [], callers } })).toEqual({
      result: [],
    });
  });

  it('gives out what a process whose clock was ahead put into the order, beside the others', () => {
    const ahead = task('b1', { aheadMs: writtenAt - now - 1 });
    expect(claim({ waits: 'a1 a2', plain: [ahead, task('a1')] }, {}).ids).toEqual(['b1', 'a1', 'a2']);
    expect(claim({ waits: 'b2', plain: [ahead] }, { perCaller: 1 }).ids).toEqual(['b1']);
  });

  it('takes a caller whose first task came longer ago before others, and one whose moment is now', () => {
    const callers = [
      { scope: 'b', firstAt: now, turn: 0 },
      { scope: 'a', firstAt: now - 5, turn: 0 },
    ];
    const found = { now, orderNow: now, leaseNow: now, held: [], ready: { waiting: [], due: [], left: [] } };
    const step = claimTurnsStep(request, {}).decide({
      ...found,
      schedule: { row: undefined, running: [], callers },
    });
    expect('wanted' in step && step.wanted.turns).toEqual({
      ...{
        queue: 'q',
        limit: 9,
        callers: [
          { scope: 'a', except: [] },
          { scope: 'b', except: [] },
        ],
      },
    });
  });

  it('gives no more than asked for together with what is counted already', () => {
    const mine = task('m1', { holder: 'me', leaseUntil: now + 1, wanted: false });
    expect(claim({ waits: 'a1 a2 b1', running: 'm', held: [mine] }, {}, { limit: 2 }).ids).toEqual([
      'm1',
      'a1',
    ]);
    expect(claim({ waits: 'a1', running: 'm', held: [mine] }, {}, { limit: 1 }).ids).toEqual(['m1']);
  });

  it('begins with what its holder has and what ran out, which are counted already', () => {
    const dead = task('d1', { holder: 'x', leaseUntil: now - 1, wanted: false });
    const kept = task('k1', { holder: 'y', leaseUntil: now - 1, wanted: false });
    const mine = task('m1', { holder: 'me', leaseUntil: now + 1, wanted: false });
    const situation = { waits: 'a1', running: 'd k m', left: [kept, dead], held: [mine] };
    const isKept = (holder: string) => holder === 'y';
    const { ids, queue, partly } = claim(situation, { concurrency: 3 }, { isKept });
    expect(ids).toEqual(['m1', 'd1']);
    // No turn began: nothing is to be remembered of the queue, and each lease stands for itself.
    expect([queue, partly !== undefined]).toEqual([undefined, true]);
    expect(claim(situation, { concurrency: 4 }, { isKept }).ids).toEqual(['m1', 'd1', 'a1']);
  });

  it('takes tasks without an order before all others, and remembers no turn of theirs', () => {
    const plain = task('z1', { aheadMs: undefined });
    const change = claim({ waits: 'a1', plain: [plain, task('a1')] }, { concurrency: 2 });
    expect(change.ids).toEqual(['z1', 'a1']);
    expect([change.callers, change.queue!.after!.turns]).toEqual([[{ queue: 'q', scope: 'a', turn: 1 }], 1]);
  });

  it('takes none out of its order, though it was found among those that wait', () => {
    expect(claim({ waits: '', plain: [task('a1')] }, {})).toEqual({ result: [], ids: [], looks: [] });
  });

  it('has all of the room where nothing runs elsewhere', () => {
    const callers = [{ scope: 'a', firstAt: now, turn: 0 }];
    const found = { now, orderNow: now, leaseNow: now, held: [], ready: { waiting: [], due: [], left: [] } };
    const schedule = { row: undefined, running: [], callers };
    expect(claimTurnsStep(request, { concurrency: 1 }).decide({ ...found, schedule })).toMatchObject({
      wanted: { turns: { limit: 1 } },
    });
  });

  it('remembers the last turn of each caller, after those before', () => {
    const before = { queue: 'q', revision: 5, turns: 7 };
    const change = claim({ waits: 'a1 a2 b1', row: before }, {});
    expect(change.queue).toEqual({ before, after: { queue: 'q', revision: 6, turns: 10 } });
    expect(change.callers).toEqual([
      { queue: 'q', scope: 'a', turn: 10 },
      { queue: 'q', scope: 'b', turn: 9 },
    ]);
    expect(change.partly).toBeUndefined();
    expect(claim({ waits: 'a1' }, {}).queue!.after!.revision).toBe(now);
  });
});
