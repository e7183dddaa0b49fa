import { weigh } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { ClosedLogs } from '../src/closed-logs.ts';
import { Groups } from '../src/groups.ts';
import { type Log, Logs } from '../src/log.ts';
import { Schedule } from '../src/schedule.ts';
import { Subscribers } from '../src/subscribers.ts';

const at = '2026-01-01T00:00:00.000Z';
const fact = { format: 1, at, type: 'woken' } as const;
const head = {
  closed: true,
  contextId: 'c',
  version: 1,
  statusAt: at,
  statusVersion: 1,
  generation: 1,
  turn: 0,
  attempt: 0,
};
const logOf = (taskId: string, facts = 1, more: Partial<Log> = {}): Log => ({
  scope: 's',
  taskId,
  row: { version: facts, head, wanted: false, fence: 0 },
  facts: Array.from({ length: facts }, (_, n) => ({ version: n + 1, commitId: 'c', fact })),
  ...more,
});

describe('closed logs', () => {
  /** What a log costs without and with each of its facts. */
  const [empty, each] = [1_500, 300 + weigh(fact)];
  const none = () => false;

  it('are surplus beyond the bound to the byte, the first that closed first', () => {
    const [a, b, c] = [logOf('a'), logOf('b', 2), logOf('c')];
    const all = 3 * empty + 4 * each;
    for (const [bound, surplus] of [
      [all, []],
      [all - 1, [a]],
      [all - empty - each, [a]],
      [all - empty - each - 1, [a, b]],
      [empty + each, [a, b]],
      [0, [a, b]],
    ] as const) {
      const closed = new ClosedLogs(bound);
      for (const log of [a, b, c]) closed.add(log);
      expect(closed.surplus(none)).toEqual(surplus);
    }
  });

  it('cost what their snapshots weigh besides', () => {
    const state = { a: 'x'.repeat(1_000) };
    const snapshot = { format: 1, version: 1, state } as never;
    const closed = new ClosedLogs(2 * empty + 2 * each + weigh(snapshot) - 1);
    const log = logOf('a', 1, { snapshot });
    closed.add(log);
    closed.add(logOf('b'));
    expect(closed.surplus(none)).toEqual([log]);
    const large = new ClosedLogs(2 * empty + 2 * each + weigh(snapshot));
    large.add(log);
    large.add(logOf('b'));
    expect(large.surplus(none)).toEqual([]);
  });

  it('that must be kept stay, and others go in their place; deleted ones cost nothing', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => logOf(id)) as [Log, Log, Log, Log];
    const closed = new ClosedLogs(2 * (empty + each));
    for (const log of [a, b, c, d]) closed.add(log);
    expect(closed.surplus((log) => log === a)).toEqual([b, c]);
    closed.delete(b);
    closed.delete(logOf('never added'));
    expect(closed.surplus(none)).toEqual([a]);
    closed.delete(c);
    expect(closed.surplus(none)).toEqual([]);
  });
});

describe('groups', () => {
  it('hold one member or many by key, and nothing of a key without members', () => {
    const groups = new Groups<string, number>();
    expect([...groups.get('a')]).toEqual([]);
    groups.delete('a', 1);
    groups.add('a', 1);
    groups.delete('a', 2);
    expect([[...groups.get('a')], groups.size]).toEqual([[1], 1]);
    groups.add('a', 2);
    groups.add('a', 3);
    groups.add('a', 3);
    groups.add('b', 1);
    expect([[...groups.get('a')], [...groups.get('b')], groups.size]).toEqual([[1, 2, 3], [1], 2]);
    groups.delete('a', 1);
    groups.delete('a', 2);
    expect([[...groups.get('a')], groups.size]).toEqual([[3], 2]);
    groups.delete('a', 3);
    groups.delete('b', 1);
    expect([[...groups.get('a')], [...groups.get('b')], groups.size]).toEqual([[], [], 0]);
    groups.add('a', 4);
    groups.clear();
    expect([[...groups.get('a')], groups.size]).toEqual([[], 0]);
  });

  it('leave nothing in a set that was read before its last members went', () => {
    const groups = new Groups<string, number>();
    groups.add('a', 1);
    const single = groups.get('a');
    groups.delete('a', 1);
    expect([...single]).toEqual([1]);
    groups.add('a', 1);
    groups.add('a', 2);
    const several = groups.get('a');
    groups.delete('a', 1);
    groups.delete('a', 2);
    expect([...several]).toEqual([]);
  });
});

describe('a schedule', () => {
  it('gives what is due, the longest first, of equals in the order they came', () => {
    const schedule = new Schedule<string>();
    for (const [item, ms] of [
      ['c', 30],
      ['a', 10],
      ['b1', 20],
      ['b2', 20],
      ['d', 40],
    ] as const)
      schedule.set(item, 'q', ms);
    schedule.set('other', 'p', 1);
    expect(schedule.due('q', 30, 9)).toEqual([
      { item: 'a', forMs: 20 },
      { item: 'b1', forMs: 10 },
      { item: 'b2', forMs: 10 },
      { item: 'c', forMs: 0 },
    ]);
    expect(schedule.due('q', 29, 2).map(({ item }) => item)).toEqual(['a', 'b1']);
    expect(schedule.due('q', 9, 9)).toEqual([]);
    expect(schedule.due('nothing', 9, 9)).toEqual([]);
    expect([...schedule.items('q')]).toEqual(['a', 'b1', 'b2', 'c', 'd']);
    expect([...schedule.items('nothing')]).toEqual([]);
  });

  it('has an item once, where it was put last', () => {
    const schedule = new Schedule<string>();
    schedule.delete('a');
    schedule.set('a', 'q', 10);
    schedule.set('b', 'q', 10);
    schedule.set('a', 'q', 10);
    expect([...schedule.items('q')]).toEqual(['b', 'a']);
    schedule.set('a', 'p', 5);
    expect([[...schedule.items('q')], [...schedule.items('p')]]).toEqual([['b'], ['a']]);
    schedule.delete('b');
    schedule.delete('b');
    expect([...schedule.items('q')]).toEqual([]);
    schedule.set('b', 'q', 1);
    expect([...schedule.items('q')]).toEqual(['b']);
  });
});

describe('subscribers', () => {
  it('are notified of their topic only, and nothing is left of one that unsubscribed', () => {
    const subscribers = new Subscribers();
    const seen: unknown[] = [];
    const note = (name: string) => (version?: number) => void seen.push([name, version]);
    const topics = {
      task: { scope: 's', taskId: 't' },
      other: { scope: 's', taskId: 'u' },
      elsewhere: { scope: 'r', taskId: 't' },
      queue: { queue: 's\0t' },
    };
    const ends = Object.entries(topics).map(([name, topic]) => subscribers.add(topic, note(name)));
    expect(subscribers.topics).toBe(4);
    for (const topic of Object.values(topics)) subscribers.notify(topic, 7);
    expect(seen).toEqual(Object.keys(topics).map((name) => [name, 7]));
    for (const end of ends) end();
    for (const topic of Object.values(topics)) subscribers.notify(topic);
    expect([seen.length, subscribers.topics]).toEqual([4, 0]);
    const twice = note('twice');
    const [first] = [1, 2].map(() => subscribers.add(topics.task, twice));
    first!();
    subscribers.notify(topics.task, 8);
    expect(seen.slice(4)).toEqual([['twice', 8]]);
    subscribers.clear();
    expect(subscribers.topics).toBe(0);
  });
});

it('logs are found by scope and id, and gone when they are deleted', () => {
  const logs = new Logs();
  const [a, b] = [logOf('a'), logOf('b')];
  const elsewhere = logOf('a', 1, { scope: 'r' });
  logs.delete(a);
  for (const log of [a, b, elsewhere]) logs.add(log);
  expect([logs.get('s', 'a'), logs.get('s', 'b'), logs.get('r', 'a'), logs.get('r', 'b')]).toEqual([
    a,
    b,
    elsewhere,
    undefined,
  ]);
  logs.delete(a);
  expect([logs.get('s', 'a'), logs.get('s', 'b'), logs.get('r', 'a')]).toEqual([undefined, b, elsewhere]);
  logs.delete(b);
  expect(logs.get('s', 'b')).toBeUndefined();
});
