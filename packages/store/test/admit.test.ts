import type { Head } from '@batonjs/lifecycle';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  admit,
  type Claimed,
  type ClaimRequest,
  type Commit,
  claimed,
  granted,
  leaseReading,
  mustHaveRoom,
  type Row,
  StoreError,
} from '../src/index.ts';

const now = 1_000;
const head = (version: number, more: Partial<Head> = {}): Head => ({
  closed: false,
  contextId: 'c',
  version,
  statusAt: '2026-01-01T00:00:00.000Z',
  statusVersion: 1,
  generation: 1,
  turn: 0,
  attempt: 0,
  ...more,
});
const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' } as const;
const row = (more: Partial<Row> = {}): Row => ({
  version: 2,
  head: head(2),
  queue: 'q',
  wanted: false,
  fence: 0,
  ...more,
});
const held = (more: Partial<Row> = {}) => row({ fence: 3, holder: 'h', leaseUntil: now + 50, ...more });
const commit = (more: Partial<Commit> = {}): Commit => ({
  scope: 's',
  taskId: 't',
  commitId: 'i',
  expectedVersion: 2,
  facts: [fact],
  head: head(3),
  ...more,
});
const open = (more: Partial<Commit> = {}) =>
  commit({ expectedVersion: 'open', head: undefined, once: 'k', ...more });
const release = (more: Partial<Commit> = {}) =>
  commit({ facts: [], head: undefined, turn: { queue: 'q', release: true }, ...more });
const writer = { fence: 3, holder: 'h' };
const acquire = { holder: 'a', ttlMs: 100 };

const codeOf = (before: Row | undefined, one: Commit): string => {
  try {
    admit(before, one, now);
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('admit', () => {
  it.each<[string, Row | undefined, Commit, Partial<Row>]>([
    [
      'starts a log',
      undefined,
      commit({ expectedVersion: 0, head: head(1) }),
      { version: 1, fence: 0, wanted: false, queue: undefined },
    ],
    [
      'counts all facts',
      row(),
      commit({ facts: [fact, fact], head: head(4) }),
      { version: 4, head: head(4) },
    ],
    [
      'appends openly and keeps the head',
      row(),
      open({ facts: [fact, fact] }),
      { version: 4, head: head(2) },
    ],
    ['remembers the queue', row(), commit(), { queue: 'q' }],
    ['moves to another queue', row(), commit({ turn: { queue: 'p' } }), { queue: 'p' }],
    ['wants a turn', row(), commit({ turn: { queue: 'q', want: true } }), { wanted: true }],
    ['goes on wanting it', row({ wanted: true }), commit({ turn: { queue: 'q' } }), { wanted: true }],
    [
      'wants a turn while one runs',
      held(),
      open({ turn: { queue: 'q', want: true } }),
      { wanted: true, holder: 'h', fence: 3 },
    ],
    [
      'takes the lease',
      row({ wanted: true, fence: 3 }),
      commit({ turn: { queue: 'q', acquire } }),
      { fence: 4, holder: 'a', leaseUntil: 1_100, wanted: false },
    ],
    [
      'does not take a lease that is held',
      held(),
      commit({ turn: { queue: 'q', acquire } }),
      { fence: 3, holder: 'h', leaseUntil: 1_050 },
    ],
    [
      'does not take one that ran out either',
      held({ leaseUntil: 1 }),
      commit({ turn: { queue: 'q', acquire } }),
      { fence: 3, holder: 'h', leaseUntil: 1 },
    ],
    [
      'wants a turn where it could not take the lease',
      held(),
      commit({ turn: { queue: 'q', acquire, want: true } }),
      { holder: 'h', wanted: true },
    ],
    ['writes under a lease', held(), commit({ writer }), { version: 3, holder: 'h', leaseUntil: 1_050 }],
    [
      'writes under a lease that ran out and was not taken',
      held({ leaseUntil: 1 }),
      commit({ writer }),
      { version: 3, holder: 'h' },
    ],
    [
      'gives the lease back',
      held({ wanted: true }),
      release({ writer }),
      { version: 2, holder: undefined, leaseUntil: undefined, wanted: false, fence: 3 },
    ],
    [
      'gives it back with facts',
      held(),
      commit({ writer, turn: { queue: 'q', release: true } }),
      { version: 3, holder: undefined },
    ],
    [
      'gives it back and wants another turn',
      held(),
      release({ writer, turn: { queue: 'q', release: true, want: true } }),
      { holder: undefined, wanted: true },
    ],
    [
      'ends everything with the log',
      held({ wanted: true }),
      commit({ writer, head: head(3, { closed: true }) }),
      { holder: undefined, leaseUntil: undefined, wanted: false, fence: 3 },
    ],
    [
      'gives out nothing with the closing fact',
      row(),
      commit({ head: head(3, { closed: true }), turn: { queue: 'q', acquire, want: true } }),
      { holder: undefined, wanted: false, fence: 0 },
    ],
  ])('%s', (_, before, one, after) => {
    expect(admit(before, one, now)).toMatchObject(after);
  });

  it.each<[string, string, Row | undefined, Commit]>([
    ['a shorter log', 'VERSION_CONFLICT', row(), commit({ expectedVersion: 3, head: head(4) })],
    ['a longer log', 'VERSION_CONFLICT', row(), commit({ expectedVersion: 1, head: head(2) })],
    ['a log that is there', 'VERSION_CONFLICT', row(), commit({ expectedVersion: 0, head: head(1) })],
    ['no log', 'VERSION_CONFLICT', undefined, commit()],
    ['an open append without a log', 'VERSION_CONFLICT', undefined, open()],
    ['a release that has not seen everything', 'VERSION_CONFLICT', held({ version: 3 }), release({ writer })],
    ['a closed log', 'LOG_CLOSED', row({ head: head(2, { closed: true }) }), commit()],
    [
      'a closed log, whatever the version',
      'LOG_CLOSED',
      row({ head: head(2, { closed: true }) }),
      commit({ expectedVersion: 0, head: head(1) }),
    ],
    ['an open append to a closed log', 'LOG_CLOSED', row({ head: head(2, { closed: true }) }), open()],
    ['an older fence', 'FENCED', held({ fence: 4 }), commit({ writer })],
    ['a newer fence', 'FENCED', held({ fence: 2 }), commit({ writer })],
    ['another holder', 'FENCED', held({ holder: 'x' }), commit({ writer })],
    ['a lease that was given back', 'FENCED', held({ holder: undefined }), commit({ writer })],
    ['a lease on a log that is not there', 'FENCED', undefined, commit({ writer })],
    [
      'a lease that ended with the log',
      'FENCED',
      row({ fence: 3, head: head(2, { closed: true }) }),
      commit({ writer }),
    ],
    [
      'the wrong holder before the wrong version',
      'FENCED',
      held({ version: 9, holder: 'x' }),
      commit({ writer }),
    ],
    ['a commit of nothing', 'INVALID_COMMIT', row(), commit({ facts: [], head: undefined })],
    ['facts without a head', 'INVALID_COMMIT', row(), commit({ head: undefined })],
    ['a head of another moment', 'INVALID_COMMIT', row(), commit({ head: head(2) })],
    ['a release with a head of another moment', 'INVALID_COMMIT', held(), release({ writer, head: head(3) })],
    [
      'a lease taken and given back',
      'INVALID_COMMIT',
      row(),
      commit({ turn: { queue: 'q', acquire, release: true } }),
    ],
    ['an open append without a key', 'INVALID_COMMIT', row(), open({ once: undefined })],
    ['an open append of nothing', 'INVALID_COMMIT', row(), open({ facts: [] })],
    ['an open append with a head', 'INVALID_COMMIT', row(), open({ head: head(3) })],
    ['an open append that takes the lease', 'INVALID_COMMIT', row(), open({ turn: { queue: 'q', acquire } })],
    ['a release of a log that never began', 'INVALID_COMMIT', undefined, release({ expectedVersion: 0 })],
    ['an open append that releases', 'INVALID_COMMIT', row(), open({ turn: { queue: 'q', release: true } })],
  ])('refuses %s with %s', (_, code, before, one) => {
    expect(codeOf(before, one)).toBe(code);
  });

  it.each<[string, Row | undefined, Commit]>([
    ['h does not hold task t any more', held({ fence: 4 }), commit({ writer })],
    ['The log of task t is closed', row({ head: head(2, { closed: true }) }), commit()],
    ['The log of task t is at 2, not 1', row(), commit({ expectedVersion: 1, head: head(2) })],
    ['Task t has no log to append to', undefined, open()],
    ['The first commit of a log needs a head', undefined, release({ expectedVersion: 0 })],
    [
      'Invalid commit: a commit without facts can only release',
      row(),
      commit({ facts: [], head: undefined }),
    ],
    ['Invalid commit: the head is not the one after these facts', row(), commit({ head: head(2) })],
    [
      'Invalid commit: a lease is acquired or released, not both',
      row(),
      commit({ turn: { queue: 'q', acquire, release: true } }),
    ],
    [
      'Invalid commit: an open append carries facts and `once`, and no head, snapshot, acquire or release',
      row(),
      open({ once: undefined }),
    ],
  ])('says: %s', (message, before, one) => {
    expect(() => admit(before, one, now)).toThrow(expect.objectContaining({ name: 'StoreError', message }));
  });

  it('throws what `StoreError.is` recognises, also from another copy of the package', () => {
    try {
      admit(undefined, commit(), now);
      expect.unreachable();
    } catch (error) {
      expect(StoreError.is(error, 'VERSION_CONFLICT')).toBe(true);
      expect(StoreError.is(error, 'FENCED')).toBe(false);
      expect(StoreError.is(JSON.parse(JSON.stringify(error)), 'VERSION_CONFLICT')).toBe(true);
    }
    expect(StoreError.is(new StoreError('FENCED', 'x'))).toBe(true);
    expect(StoreError.is(Object.assign(new Error('x'), { code: 'FENCED' }), 'FENCED')).toBe(false);
    expect(StoreError.is(undefined, 'FENCED')).toBe(false);
    expect(StoreError.is('FENCED', 'FENCED')).toBe(false);
  });

  const anyRow = fc.record({
    version: fc.integer({ min: 1, max: 3 }),
    wanted: fc.boolean(),
    fence: fc.nat(2),
    holder: fc.constantFrom(undefined, 'h', 'a'),
    closed: fc.boolean(),
  });
  const anyCommit = fc.record({
    expectedVersion: fc.constantFrom<Commit['expectedVersion']>(0, 1, 2, 3, 'open'),
    count: fc.nat(2),
    closes: fc.boolean(),
    writer: fc.option(fc.record({ fence: fc.nat(2), holder: fc.constantFrom('h', 'a') }), { nil: undefined }),
    turn: fc.constantFrom<Commit['turn']>(
      undefined,
      { queue: 'q', want: true },
      { queue: 'q', acquire },
      { queue: 'q', release: true },
      { queue: 'q', release: true, want: true },
    ),
  });

  /** The row before and after, for everything that is admitted. */
  const whatever = (check: (before: Row, one: Commit, after: Row) => void) =>
    fc.assert(
      fc.property(anyRow, anyCommit, ({ closed, ...parts }, { count, closes, ...rest }) => {
        const before = row({ ...parts, head: head(parts.version, { closed }) });
        const isOpen = rest.expectedVersion === 'open';
        const after = isOpen ? undefined : head(Number(rest.expectedVersion) + count, { closed: closes });
        const one = commit({
          ...rest,
          facts: Array.from({ length: count }, () => fact),
          head: count > 0 ? after : undefined,
          once: isOpen ? 'k' : undefined,
        });
        if (codeOf(before, one) === 'admitted') check(before, one, admit(before, one, now));
      }),
    );

  it('never lets fences or versions go back, and never lets one fence have two holders', () => {
    whatever((before, one, after) => {
      expect(after.version).toBe(before.version + one.facts.length);
      expect(after.fence).toBeGreaterThanOrEqual(before.fence);
      if (after.fence === before.fence && after.holder !== undefined)
        expect(after.holder).toBe(before.holder);
    });
  });

  it('never lets anybody write to a closed log, or under a lease that is not theirs', () => {
    whatever((before, one) => {
      expect(before.head.closed).toBe(false);
      if (one.writer) expect([before.fence, before.holder]).toEqual([one.writer.fence, one.writer.holder]);
    });
  });

  it('grants exactly the leases it took', () => {
    whatever((before, one, after) => {
      const lease = granted(after, one);
      if (after.fence > before.fence)
        expect(lease).toMatchObject({ fence: after.fence, holder: after.holder });
      if (lease) expect(after.holder).toBe(one.turn?.acquire?.holder);
    });
  });

  it('leaves nothing to do in a closed log', () => {
    whatever((_, __, after) => {
      if (after.head.closed)
        expect([after.wanted, after.holder, after.leaseUntil]).toEqual([false, undefined, undefined]);
    });
  });
});

describe('mustHaveRoom', () => {
  const asks = (waitingAtMost?: number) => commit({ turn: { queue: 'q', want: true, waitingAtMost } });
  const waiting = (queue: string) => (queue === 'q' ? 3 : 100);

  it.each<[string, Row, Commit]>([
    ['one more than wait already', row({ wanted: true }), asks(4)],
    ['any number', row({ wanted: true }), asks()],
    ['none, for a task that wants no turn', row(), asks(0)],
    ['none, for a task that is held', held({ wanted: true }), asks(0)],
    ['none, for a commit that asks for no turn', row({ wanted: true }), commit()],
  ])('admits a task that waits where as many may as %s', (_, after, one) => {
    expect(() => mustHaveRoom(after, one, waiting)).not.toThrow();
  });

  it.each([3, 2, 0])('refuses a task that is to wait where %d may, if three wait already', (most) => {
    expect(() => mustHaveRoom(row({ wanted: true }), asks(most), waiting)).toThrow(
      expect.objectContaining({
        code: 'QUEUE_FULL',
        message: `${most} tasks of queue q are waiting for a turn already`,
      }),
    );
  });
});

describe('granted', () => {
  it('says what was granted to whom', () => {
    const one = commit({ turn: { queue: 'q', acquire } });
    const lease = { scope: 's', taskId: 't', queue: 'q', holder: 'a', fence: 1, cause: 'committed' };
    expect(granted(admit(row(), one, now), one)).toEqual(lease);
    expect(granted(admit(held(), one, now), one)).toBeUndefined();
    expect(granted(admit(row(), commit(), now), commit())).toBeUndefined();
  });
});

describe('claimed', () => {
  const request: ClaimRequest = { queue: 'q', holder: 'me', ttlMs: 100, limit: 1 };
  const past = new Date(now - 1).toISOString();
  const future = new Date(now + 1).toISOString();

  it.each<[string, Row, Claimed['cause'] | undefined]>([
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
    ['a clock that ran out', row({ head: head(2, { dueAt: past }) }), 'due'],
    ['a clock that runs out now', row({ head: head(2, { dueAt: new Date(now).toISOString() }) }), 'due'],
    ['a clock that has time', row({ head: head(2, { dueAt: future }) }), undefined],
    ['a clock that ran out under a live lease', held({ head: head(2, { dueAt: past }) }), undefined],
    ['a wanted turn and a clock', row({ wanted: true, head: head(2, { dueAt: past }) }), 'wanted'],
    ['a closed log', row({ wanted: true, head: head(2, { closed: true, dueAt: past }) }), undefined],
    ['a closed log of our own', held({ holder: 'me', head: head(2, { closed: true }) }), undefined],
  ])('finds in %s: %3$s', (_, one, cause) => {
    expect(claimed(one, request, now)?.cause).toBe(cause);
  });

  it.each<[string, Row, Partial<Row>]>([
    ['wanted', row({ wanted: true, fence: 3 }), { wanted: false, fence: 4, holder: 'me' }],
    [
      'left by a holder',
      held({ wanted: true, fence: 3, leaseUntil: now }),
      { wanted: false, fence: 4, holder: 'me' },
    ],
    ['due', row({ fence: 3, head: head(2, { dueAt: past }) }), { fence: 4, holder: 'me' }],
    ['held by the same token', held({ holder: 'me', wanted: true, fence: 3 }), {}],
  ])('gives the row of a task that is %s', (_, before, changes) => {
    expect(claimed(before, request, now)?.row).toEqual({ ...before, ...changes, leaseUntil: now + 100 });
  });
});

describe('how much longer a task counts as having waited', () => {
  const turn = (aheadMs: number) => commit({ turn: { queue: 'q', want: true, aheadMs } });

  it.each<[string, Row, number, number]>([
    ['grows while the task waits', row({ wanted: true, aheadMs: 5 }), 7, 7],
    ['does not shrink while the task waits', row({ wanted: true, aheadMs: 5 }), 3, 5],
    ['begins with a task that waits without', row({ wanted: true }), 3, 3],
    ['begins anew when no turn is wanted', row({ aheadMs: 5 }), 3, 3],
    ['begins anew while a turn runs', held({ wanted: true, aheadMs: 5 }), 3, 3],
  ])('%s', (_, before, aheadMs, after) => {
    expect(admit(before, turn(aheadMs), now).aheadMs).toBe(after);
  });
});

it('the reading of a free task has no holder', () => {
  expect(leaseReading(row({ fence: 3 }))).toStrictEqual({ fence: 3, isWanted: false });
});
