import type { TaskName } from '@batonjs/store';
import type { TaskRow } from '@batonjs/store/adapter';
import { describe, expect, it } from 'vitest';
import { headAt } from '../../../test/kit/task-logs.ts';
import { closedLogs } from '../src/logs/closed-logs.ts';
import { LargeMap, Log, Logs } from '../src/logs/log.ts';
import { TaskIndex } from '../src/task-index.ts';

const at = '2026-01-01T00:00:00.000Z';
const fact = { format: 1, at, type: 'woken' } as const;
const head = headAt(1, { closed: true });
const rowOf = (more: Partial<TaskRow> & TaskName): TaskRow => ({
  ...{ revision: 1, version: 1, head, lastAt: at, webhooks: 0, queue: undefined, wanted: false, fence: 0 },
  ...{
    holder: undefined,
    aheadMs: undefined,
    waitingSince: undefined,
    dueAt: undefined,
    leaseUntil: undefined,
  },
  ...{ leasedAt: undefined, turnAt: undefined, endedAt: undefined },
  ...more,
});
const logOf = (taskId: string, facts = 1, scope = 's'): Log => {
  const log = new Log(rowOf({ scope, taskId, version: facts }));
  for (let n = 0; n < facts; n++) log.facts.push('c', fact);
  return log;
};
const closedLog = (taskId: string, facts = 1): Log => {
  const log = logOf(taskId, facts);
  log.close();
  return log;
};

describe('closed logs', () => {
  /** What a log costs with one fact, and each further fact. */
  const one = closedLog('a').bytes;
  const each = closedLog('a', 2).bytes - one;
  const none = () => false;

  it('are surplus beyond the bound to the byte, the first that closed first', () => {
    const [a, b, c] = [closedLog('a'), closedLog('b', 2), closedLog('c')];
    const all = 3 * one + each;
    for (const [bound, surplus] of [
      [all, []],
      [all - 1, [a]],
      [all - one, [a]],
      [all - one - 1, [a, b]],
      [one, [a, b]],
      [0, [a, b]],
    ] as const) {
      const closed = closedLogs(bound);
      for (const log of [a, b, c]) closed.add(log);
      expect(closed.surplus(none)).toEqual(surplus);
      for (const log of [a, b, c]) closed.delete(log);
    }
  });

  it('that must be kept stay, and others go in their place; deleted ones cost nothing', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => closedLog(id)) as [Log, Log, Log, Log];
    expect(closedLogs(0).surplus(none)).toEqual([]);
    const closed = closedLogs(2 * one);
    for (const log of [a, b, c, d]) closed.add(log);
    expect(closed.surplus((log) => log === a)).toEqual([b, c]);
    closed.delete(b);
    closed.delete(closedLog('never added'));
    expect(closed.surplus(none)).toEqual([a]);
    closed.delete(d);
    closed.delete(a);
    expect(closed.surplus(none)).toEqual([]);
    const e = closedLog('e', 100);
    closed.add(e);
    expect(closed.surplus(none)).toEqual([c]);
  });
});

describe('a closed log', () => {
  it('reads as it did while it was open, at every position and limit', () => {
    const length = 300;
    const log = logOf('a', 0);
    /** Several commits of a writer, then of one whose name begins like it, then ids without a count. */
    const commitIdOf = (n: number) =>
      `${['writer-', 'writer-2-', 'a:b', '-'][Math.floor(n / 24) % 4]}${Math.floor(n / 3)}`;
    const all = Array.from({ length }, (_, n) => {
      const stored = { version: n + 1, commitId: commitIdOf(n), fact: { ...fact, n } };
      log.facts.push(stored.commitId, stored.fact);
      return stored;
    });
    const mustRead = () => {
      for (const after of [0, 1, 63, 64, 65, 127, 128, 172, 250, 299, 300, 999])
        for (const limit of [1, 2, 64, 65, 200, Number.POSITIVE_INFINITY])
          expect(log.facts.after(after, limit)).toEqual(all.slice(after, after + limit));
      for (const { version } of all) expect(log.facts.at(version)).toEqual(all[version - 1]);
      expect([log.facts.at(0), log.facts.at(length + 1)]).toEqual([undefined, undefined]);
    };
    mustRead();
    log.close();
    mustRead();
    expect(() => log.facts.push('c', fact)).toThrow('closed');
    // A whole page, and no more.
    const page = closedLog('b', 64);
    expect([page.facts.after(0).length, page.facts.after(64)]).toEqual([64, []]);
  });

  it('keeps its row, its snapshot and its keys', () => {
    const snapshot = { format: 1, version: 1, state: { weight: 7 } } as never;
    const [log, bare] = [logOf('a'), logOf('b')];
    log.snapshot = snapshot;
    log.use('k', 1);
    log.use('l', 2);
    const row = { ...log.row, fence: 7 };
    log.row = row;
    const mustBeKept = () => {
      expect([log.row, log.snapshot, log.usedAt('k'), log.usedAt('l'), log.usedAt('m')]).toEqual([
        row,
        snapshot,
        1,
        2,
        undefined,
      ]);
      expect([bare.snapshot, bare.usedAt('k')]).toEqual([undefined, undefined]);
    };
    mustBeKept();
    bare.row = row;
    expect(log.isClosed).toBe(false);
    for (const one of [log, bare]) one.close();
    expect(log.isClosed).toBe(true);
    mustBeKept();
    const besides = JSON.stringify(snapshot).length + 'k'.length + JSON.stringify([['l', 2]]).length;
    expect(log.bytes - bare.bytes).toBe(besides);
  });

  it('keeps the name of a writer once, however many commits it wrote', () => {
    const writer = `${'w'.repeat(100)}-`;
    const bytesOf = (commitIds: readonly string[]) => {
      const log = logOf('a', 0);
      for (const commitId of commitIds) log.facts.push(commitId, fact);
      log.close();
      return log.facts.bytes;
    };
    const one = bytesOf([`${writer}1`, `${writer}1`]);
    expect(bytesOf([`${writer}1`, `${writer}2`]) - one).toBe('101:2'.length);
  });

  it('costs two bytes for each character of a text with one beyond Latin-1, and one otherwise', () => {
    const bytesWith = (text: string) => {
      const log = logOf('a', 0);
      log.facts.push('c', { ...fact, text } as never);
      log.close();
      return log.facts.bytes;
    };
    const latin = bytesWith('ÿ'.repeat(100));
    expect([bytesWith('x'.repeat(100)), bytesWith('Ā'.repeat(100))]).toEqual([latin, 2 * latin]);
  });
});

describe('the index', () => {
  const states = ['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const;
  const placed = (index: TaskIndex, n: number): Log => {
    const isClosed = n % 2 === 1;
    const statusAt = new Date(n).toISOString();
    const listed = { ...head, closed: isClosed, state: states[n % 2]!, statusAt };
    const log = new Log(rowOf({ scope: 's', taskId: `t${n}`, head: listed }));
    log.facts.push('c', fact);
    index.changed(log, undefined);
    if (isClosed) log.close();
    return log;
  };

  it('lists a context that has few tasks, then many, then few again', () => {
    const index = new TaskIndex();
    const logs: Log[] = [];
    const mustList = () => {
      for (const contextId of ['c', undefined])
        for (const state of [undefined, ...states]) {
          const { tasks, total } = index.page('s', { contextId, state, terms: [], limit: 1_000 });
          const expected = logs.filter(({ row }) => !state || row.head!.state === state).reverse();
          expect(tasks.map(({ taskId }) => taskId)).toEqual(expected.map(({ taskId }) => taskId));
          expect(total).toBe(expected.length);
        }
    };
    mustList();
    for (let n = 0; n < 40; n++) {
      logs.push(placed(index, n));
      mustList();
    }
    while (logs.length > 0) {
      index.deleted(logs.splice(Math.floor(logs.length / 2), 1)[0]!);
      mustList();
    }
    expect(index.size).toBe(0);
    logs.push(placed(index, 1));
    mustList();
  });
});

it('logs are found by scope and id, and gone when they are deleted', () => {
  const logs = new Logs();
  const [a, b] = [logOf('a'), logOf('b')];
  const elsewhere = logOf('a', 1, 'r');
  logs.delete(a);
  for (const log of [a, b, elsewhere]) logs.add(log);
  const get = (scope: string, taskId: string) => logs.get({ scope, taskId });
  expect([get('s', 'a'), get('s', 'b'), get('r', 'a'), get('r', 'b')]).toEqual([a, b, elsewhere, undefined]);
  logs.delete(a);
  expect([get('s', 'a'), get('s', 'b'), get('r', 'a')]).toEqual([undefined, b, elsewhere]);
  logs.delete(b);
  expect(get('s', 'b')).toBeUndefined();
  const third = logOf('a', 1, 'q');
  for (const log of [a, third]) logs.add(log);
  logs.delete(elsewhere);
  expect(['s', 'r', 'q'].map((scope) => get(scope, 'a'))).toEqual([a, undefined, third]);
});

/** An id that begins with a time. */
const idAt = (ms: number): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
};

it('a large map keeps every string, and forgets what is deleted', () => {
  const map = new LargeMap<number>();
  const ids = Array.from({ length: 500 }, (_, n) => idAt(16 * n));
  const odd = ['~', ' ', 'é', '\u{ffff}'].map((digit) => idAt(0).replace(/^(.{10})../, `$1${digit}${digit}`));
  const keys = ['', 'a', 'ab', ...ids, ...odd, ...Array.from({ length: 2_000 }, (_, n) => `task-${n}`)];
  for (const [n, key] of keys.entries()) map.set(key, n);
  expect(keys.every((key, n) => map.get(key) === n)).toBe(true);
  expect(map.size).toBe(keys.length);
  for (const key of keys) map.delete(key);
  expect(keys.every((key) => map.get(key) === undefined)).toBe(true);
});
