import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Found } from '../../src/adapter.ts';
import { type Commit, StoreError } from '../../src/index.ts';
import type { TaskRow } from '../../src/port/rows.ts';
import { admit as admitAt, commitStep, granted } from '../../src/rules/commit.ts';
import type { TaskFacts } from '../../src/rules/task-row.ts';
import { head, row, webhook, writtenAt } from '../a-row.ts';

const now = 1_000;
const moment = { now, orderNow: now, leaseNow: now };
const admit = (before: TaskRow | undefined, one: Commit): TaskRow =>
  admitAt(before, one, moment, { webhooks: [], lastAt: one.facts.at(-1)?.at });
const fact = { format: 1, at: '2026-01-01T00:00:00.000Z', type: 'woken' } as const;
const held = (more: Partial<TaskFacts> = {}) => row({ fence: 3, holder: 'h', leaseUntil: now + 50, ...more });
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

const codeOf = (before: TaskRow | undefined, one: Commit): string => {
  try {
    admit(before, one);
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('admit', () => {
  it.each<[string, TaskRow | undefined, Commit, Partial<TaskRow>]>([
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
    expect(admit(before, one)).toMatchObject(after);
  });

  it.each<[string, string, TaskRow | undefined, Commit]>([
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

  it.each<[string, TaskRow | undefined, Commit]>([
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
      'Invalid commit: an open append carries facts and `once`, and no head, snapshot, text, origin, acquire or release',
      row(),
      open({ once: undefined }),
    ],
    [
      'Invalid commit: an open append carries facts and `once`, and no head, snapshot, text, origin, acquire or release',
      row(),
      open({ text: 'refund' }),
    ],
    [
      'Invalid commit: a text, an origin or a look for a deletion is that of the first commit',
      row(),
      commit({ text: 'refund' }),
    ],
  ])('says: %s', (message, before, one) => {
    expect(() => admit(before, one)).toThrow(expect.objectContaining({ name: 'StoreError', message }));
  });

  it('throws what `StoreError.is` recognises, also from another copy of the package', () => {
    try {
      admit(undefined, commit());
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
  const whatever = (check: (before: TaskRow, one: Commit, after: TaskRow) => void) =>
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
        if (codeOf(before, one) === 'admitted') check(before, one, admit(before, one));
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
      expect(before.head?.closed).toBe(false);
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
      if (after.head?.closed)
        expect([after.wanted, after.holder, after.leaseUntil]).toEqual([false, undefined, undefined]);
    });
  });
});

/** What the decision about a commit makes of what was found. */
function decide(
  one: Commit,
  before: TaskRow | undefined,
  more: Partial<Found['tasks'] & object> | object = {},
) {
  const step = commitStep({
    commit: one,
    facts: one.facts.map((fact) => JSON.stringify(fact)),
    snapshot: undefined,
    encode: (fact) => JSON.stringify(fact),
  });
  const { waiting, ...task } = { waiting: 0, webhooks: [], once: undefined, ...more } as {
    waiting: number;
    webhooks: readonly ReturnType<typeof webhook>[];
    once: number | undefined;
  };
  const change = step.decide({ ...moment, tasks: [{ row: before, ...task }], waiting });
  if ('decide' in change) throw new TypeError('A commit looks once');
  return { ...change, wanted: step.wanted };
}

describe('a commit', () => {
  const asks = (waitingAtMost?: number) => commit({ turn: { queue: 'q', want: true, waitingAtMost } });

  it('whose `once` counted before is found before anything else, and writes nothing', () => {
    const closed = row({ head: head(2, { closed: true }) });
    for (const one of [commit({ once: 'k' }), open({ facts: [] })]) {
      const { result, tasks } = decide(one, closed, { once: 7 });
      expect([result, tasks]).toEqual([{ version: 7, repeated: true }, undefined]);
    }
  });

  it.each<[string, TaskRow, Commit]>([
    ['one more than wait already', row(), asks(4)],
    ['any number', row(), asks()],
    ['none, for a task that is held', held({ wanted: true }), asks(0)],
    ['none, for a commit that asks for no turn', row({ wanted: true }), commit()],
  ])('has room where as many may wait as %s', (_, before, one) => {
    expect(decide(one, before, { waiting: 3 }).result.version).toBe(3);
  });

  it.each([3, 2, 0])('is refused where %d may wait and three do', (most) => {
    expect(decide(asks(4), row()).wanted.waiting).toEqual({ queue: 'q', atMost: 4 });
    expect(() => decide(asks(most), row(), { waiting: 3 })).toThrow(
      expect.objectContaining({
        code: 'QUEUE_FULL',
        message: `${most} tasks of queue q are waiting for a turn already`,
      }),
    );
  });

  it('that contradicts itself is refused as that, in any queue', () => {
    expect(() => decide(open({ facts: [] }), row(), { waiting: 9 })).toThrow(
      expect.objectContaining({ code: 'INVALID_COMMIT' }),
    );
    for (const none of [undefined, row({ version: 0, head: undefined })])
      expect(codeOf(none, open())).toBe('VERSION_CONFLICT');
    expect(() => decide(open(), undefined)).toThrow(StoreError);
    expect(codeOf(row(), commit({ turn: { queue: 'q', acquire, release: true } }))).toBe('INVALID_COMMIT');
    expect(codeOf(row({ version: 0, head: undefined }), commit({ expectedVersion: 0, head: head(1) }))).toBe(
      'admitted',
    );
  });

  it('that starts a log begins to wait in its queue, and counts the webhooks that came before', () => {
    const first = commit({ expectedVersion: 0, head: head(1), turn: { queue: 'q', want: true } });
    const empty = row({ version: 0, head: undefined, queue: undefined, webhooks: 2, lastAt: '' });
    const { tasks, notify } = decide(first, empty, { webhooks: [webhook({}, 0)] });
    expect(tasks![0]!.after).toMatchObject({ version: 1, webhooks: 2, waitingSince: now, lastAt: fact.at });
    expect(notify).toEqual([{ queue: 'q' }, { scope: 's', taskId: 't', version: 1 }, { queue: 'q' }]);
    expect(decide(first, undefined).tasks![0]!.after!.webhooks).toBe(0);
    expect(decide(release({ writer }), held({ lastAt: 'x' })).tasks![0]!.after!.lastAt).toBe('x');
    const nothing = release({ expectedVersion: 0, head: head(0) });
    expect(decide(nothing, undefined).tasks![0]!.after).toMatchObject({ version: 0, lastAt: '' });
  });

  it('keeps its facts with its id, and none of an open append earlier than the last one', () => {
    const late = { ...fact, at: '2026-01-01T00:00:00.500Z' };
    const change = decide(open({ facts: [fact, late] }), row({ lastAt: '2026-01-01T00:00:00.200Z' }));
    const [write] = change.tasks!;
    expect(write!.facts!.map((json) => JSON.parse(json).at)).toEqual(['2026-01-01T00:00:00.200Z', late.at]);
    expect([write!.commitId, write!.once, write!.after!.lastAt]).toEqual(['i', 'k', late.at]);
    const times = ['00.300', '00.400', '00.600'].map((end) => `2026-01-01T00:00:${end}Z`);
    const rising = decide(open({ facts: times.map((at) => ({ ...fact, at })) }), row());
    expect(rising.tasks![0]!.after!.lastAt).toBe(times[2]);
    // Others are kept as they are.
    expect(decide(commit(), row({ lastAt: late.at })).tasks![0]!.facts).toEqual([JSON.stringify(fact)]);
  });

  it('makes webhooks due that it leaves behind, and notifies of those that can be delivered to', () => {
    const heard = webhook({ id: 'heard', cursor: 2 });
    const busy = webhook({ id: 'busy', holder: 'h', leaseUntil: 5_000, cursor: 2 });
    const behind = webhook({ id: 'behind' });
    const dead = webhook({ id: 'dead', dead: 'no' });
    const later = webhook({ id: 'later', retryAt: '2030-01-01T00:00:00.000Z', queue: 'p' });
    const change = decide(commit(), row({ webhooks: 5 }), { webhooks: [heard, busy, behind, dead, later] });
    expect(change.webhooks!.map(({ after }) => [after!.id, after!.readyAt])).toEqual([
      ['heard', now],
      ['busy', 5_000],
    ]);
    expect(change.notify).toEqual([{ queue: 'q' }, { queue: 'q' }, { scope: 's', taskId: 't', version: 3 }]);
    expect(decide(release({ writer }), held({ webhooks: 1 }), { webhooks: [behind] })).toMatchObject({
      webhooks: undefined,
      notify: [],
    });
  });

  it('that closes a log keeps it from being deleted while a webhook has not heard of it', () => {
    const closing = commit({ head: head(3, { closed: true }) });
    const endedAt = (webhooks: readonly ReturnType<typeof webhook>[]) =>
      decide(closing, row({ webhooks: webhooks.length }), { webhooks }).tasks![0]!.after!.endedAt;
    const at = Date.parse(head(3).statusAt);
    expect(endedAt([])).toBe(at);
    expect(endedAt([webhook({ dead: 'no' })])).toBe(at);
    expect(endedAt([webhook({ dead: 'no' }), webhook()])).toBeUndefined();
    expect(decide(commit(), row()).tasks![0]!.after!.endedAt).toBeUndefined();
  });

  it.each<[string, TaskRow | undefined, Commit, boolean]>([
    ['wants a turn', row(), commit({ turn: { queue: 'q', want: true } }), true],
    ['wants it again', row({ wanted: true }), commit({ turn: { queue: 'q', want: true } }), true],
    ['moves a waiting task', row({ wanted: true }), commit({ turn: { queue: 'p' } }), true],
    ['appends to a waiting task', row({ wanted: true }), commit(), false],
    [
      'frees a task that waits',
      held({ wanted: true }),
      release({ turn: { queue: 'q', release: true, want: true } }),
      true,
    ],
    ['wants a turn of a task that is held', held(), commit({ turn: { queue: 'q', want: true } }), false],
    ['wants nothing', row(), commit(), false],
  ])('that %s notifies the queue: %4$s', (_, before, one, isNotified) => {
    const topics = decide(one, before).notify!.filter((topic) => 'queue' in topic);
    expect(topics).toEqual(isNotified ? [{ queue: one.turn!.queue }] : []);
  });

  it('makes a task more urgent while it waits, and never less', () => {
    const ahead = (before: TaskRow, aheadMs?: number) =>
      admit(before, commit({ turn: { queue: 'q', want: true, ...(aheadMs !== undefined && { aheadMs }) } }));
    const waits = row({ wanted: true, aheadMs: 10 });
    expect([ahead(waits, 5).aheadMs, ahead(waits, 20).aheadMs, ahead(waits).aheadMs]).toEqual([10, 20, 10]);
    expect([ahead(waits, 20).turnAt, ahead(row({ aheadMs: 10 }), 5).turnAt]).toEqual([
      writtenAt - 20,
      now - 5,
    ]);
    expect(ahead(held({ wanted: true, aheadMs: 10 }), 5).aheadMs).toBe(5);
    expect(ahead(row({ wanted: true }), 5).aheadMs).toBe(5);
    const first = commit({ expectedVersion: 0, head: head(1), turn: { queue: 'q', want: true, aheadMs: 7 } });
    expect(admit(undefined, first).turnAt).toBe(now - 7);
    expect(ahead(row(), undefined).turnAt).toBeUndefined();
  });
});

it('encodes only facts whose time it moves', () => {
  const one = open({ facts: [fact, { ...fact, at: '2026-01-01T00:00:01.000Z' }] });
  const encoded: string[] = [];
  const step = commitStep<string>({
    ...{ commit: one, facts: ['first', 'second'], snapshot: undefined },
    encode: ({ at }) => {
      encoded.push(at);
      return at;
    },
  });
  const tasks = [
    { row: row({ lastAt: '2026-01-01T00:00:00.500Z' }), webhooks: [], once: undefined },
  ] as const;
  expect(step.decide({ ...moment, tasks })).toMatchObject({
    tasks: [{ facts: ['2026-01-01T00:00:00.500Z', 'second'] }],
  });
  expect(encoded).toEqual(['2026-01-01T00:00:00.500Z']);
});

describe('granted', () => {
  it('says what was granted to whom', () => {
    const one = commit({ turn: { queue: 'q', acquire } });
    const lease = { scope: 's', taskId: 't', queue: 'q', holder: 'a', fence: 1, cause: 'committed' };
    expect(granted(admit(row(), one), one)).toEqual(lease);
    expect(granted(admit(held(), one), one)).toBeUndefined();
    expect(granted(admit(row(), commit()), commit())).toBeUndefined();
  });
});
