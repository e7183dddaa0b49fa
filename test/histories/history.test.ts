import {
  type Fact,
  type Head,
  headOf,
  replay,
  toSnapshot,
  toStreamResponse,
  viewTask,
} from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import {
  answered,
  at,
  chunk,
  completed,
  created,
  received,
  status,
  working,
} from '../../packages/store-conformance/src/samples/facts.ts';
import { snapshotAt } from '../../packages/store-conformance/src/samples/log.ts';
import { checkHistory, type KeptLog, type Observation, type SeenEvent, type Violation } from './history.ts';

const turn = { format: 1, at: at(0), turn: 1 } as const;
const started = (attempt = 1, number = 1): Fact => ({
  ...turn,
  type: 'turn-started',
  turn: number,
  attempt,
  messageIds: ['m1'],
});
const ended = (number = 1): Fact => ({ ...turn, type: 'turn-ended', turn: number });
const chunkOf = (number: number, attempt: number): Fact =>
  ({
    ...chunk(number),
    artifact: { artifactId: 'numbers', parts: [{ data: { chunk: number, attempt } }] },
  }) as Fact;

const good = [
  received(),
  created(),
  started(),
  working(),
  chunk(1),
  chunk(2),
  chunk(3),
  ended(),
  completed(),
];

function logOf(facts: readonly Fact[], more: Partial<KeptLog> = {}): KeptLog {
  const head = facts.reduce<Head | undefined>(headOf, undefined)!;
  return {
    taskId: 't',
    head,
    facts: facts.map((fact, n) => ({ version: n + 1, commitId: `c${n}`, fact })),
    ...more,
  };
}

const kinds = (violations: readonly Violation[]) => [...new Set(violations.map(({ kind }) => kind))];
const ofLog = (facts: readonly Fact[], more?: Partial<KeptLog>) =>
  kinds(checkHistory({ logs: [logOf(facts, more)] }));
const ofClient = (
  seen: Omit<Extract<Observation, { type: 'stream' }>, 'type' | 'client' | 'taskId'> | object,
) =>
  kinds(
    checkHistory({
      logs: [logOf(good)],
      observations: [{ client: 'c', taskId: 't', ...seen } as Observation],
    }),
  );

describe('the history checker', () => {
  it.each<[string, readonly Fact[]]>([
    ['a turn', good],
    ['a task that was only begun', [received()]],
    ['an answer without a task', [received(), started(), ended(), answered()]],
    [
      'a recovered turn',
      [received(), created(), started(), chunk(1), chunk(2), started(2), chunk(1), ended(), completed()],
    ],
    [
      'two turns',
      [
        received(),
        created(),
        started(),
        ended(),
        received('m2'),
        started(1, 2),
        chunk(1),
        ended(2),
        completed(),
      ],
    ],
    ['a task that ran out of time between turns', [received(), created(), status('TASK_STATE_FAILED')]],
  ])('has nothing against %s', (_, facts) => {
    expect(checkHistory({ logs: [logOf(facts)] })).toEqual([]);
  });

  it.each<[string, Violation['kind'], readonly Fact[]]>([
    ['a second end', 'doubleTerminal', [...good, status('TASK_STATE_CANCELED')]],
    ['a chunk after the end', 'doubleTerminal', [...good, chunk(4)]],
    ['a message twice', 'duplicated', [received(), created(), received()]],
    ['a turn in a turn', 'doubleTurns', [received(), created(), started(), started(1, 2)]],
    ['an attempt twice', 'doubleTurns', [received(), created(), started(), started(1)]],
    ['an attempt left out', 'doubleTurns', [received(), created(), started(), started(3)]],
    ['the end of another turn', 'doubleTurns', [received(), created(), started(), ended(2)]],
    ['a chunk outside of turns', 'doubleTurns', [received(), created(), started(), ended(), chunk(1)]],
    [
      'a chunk of an older attempt',
      'doubleTurns',
      [received(), created(), started(), started(2), chunkOf(1, 1)],
    ],
    ['a chunk twice', 'duplicated', [received(), created(), started(), chunk(1), chunk(1)]],
    ['chunks out of order', 'reordered', [received(), created(), started(), chunk(1), chunk(2), chunk(1)]],
    ['a chunk left out', 'lost', [received(), created(), started(), chunk(1), chunk(3)]],
    ['a log that starts in the middle', 'corrupt', [created(), working()]],
    ['a log in which time goes back', 'corrupt', [received('m1', 'c', at(5)), created('t', 'c', at(4))]],
  ])('finds %s', (_, kind, facts) => {
    expect(ofLog(facts)).toContain(kind);
  });

  it('finds a head and a snapshot that are not those of the log', () => {
    const { head } = logOf(good);
    for (const wrong of [
      { generation: 99 },
      { state: 'TASK_STATE_FAILED' },
      { version: 3 },
      { statusAt: at(7) },
      { attempt: 2 },
    ]) {
      expect(ofLog(good, { head: { ...head, ...wrong } as Head })).toEqual(['corrupt']);
    }
    expect(ofLog(good, { head: { ...head, dueAt: at(9) } })).toEqual([]);
    expect(ofLog(good, { snapshot: toSnapshot(replay(good.slice(0, 5))!) })).toEqual([]);
    expect(ofLog(good, { snapshot: snapshotAt(5) })).toEqual(['corrupt']);
  });

  it('finds gaps in the positions and a commit that is there twice', () => {
    const { facts } = logOf(good);
    expect(
      ofLog(good, { facts: facts.map((fact, n) => (n > 4 ? { ...fact, version: n + 2 } : fact)) }),
    ).toContain('corrupt');
    expect(
      ofLog(good, { facts: facts.map((fact, n) => (n === 4 ? { ...fact, commitId: 'c1' } : fact)) }),
    ).toContain('duplicated');
  });

  it('finds tasks that did not settle, and lets interrupted ones be', () => {
    const open = [received(), created(), started(), working()];
    const asking = [...open, ended(), status('TASK_STATE_INPUT_REQUIRED')];
    const settled = (facts: readonly Fact[]) => kinds(checkHistory({ logs: [logOf(facts)], settled: true }));
    expect([settled(open), settled([received()]), settled(asking), settled(good)]).toEqual([
      ['stuck'],
      ['stuck'],
      [],
      [],
    ]);
  });

  it('compares what clients observed with the log', () => {
    expect(ofClient({ type: 'accepted', messageId: 'm1' })).toEqual([]);
    expect(ofClient({ type: 'accepted', messageId: 'm2' })).toEqual(['lost']);
    expect(ofClient({ type: 'committed', commitId: 'c3', version: 4 })).toEqual([]);
    expect(ofClient({ type: 'committed', commitId: 'c3', version: 5 })).toEqual(['lost']);
    expect(ofClient({ type: 'ended', state: 'TASK_STATE_COMPLETED' })).toEqual([]);
    expect(ofClient({ type: 'ended', state: 'TASK_STATE_CANCELED' })).toEqual(['doubleTerminal']);
    expect(ofClient({ type: 'accepted', messageId: 'm1', taskId: 'nothing' })).toEqual(['lost']);
  });

  describe('follows a stream', () => {
    const task = { id: 't', contextId: 'c' };
    const event = (position: number): SeenEvent => ({
      position,
      response: toStreamResponse(task, good[position - 1]!),
    });
    const view = (position: number) => viewTask(replay(good.slice(0, position))!);
    const stream = (
      positions: readonly (number | SeenEvent)[],
      more: object = { after: 2, complete: true },
    ) =>
      ofClient({
        type: 'stream',
        events: positions.map((one) => (typeof one === 'number' ? event(one) : one)),
        ...more,
      });

    it('that shows everything once and in order', () => {
      expect(stream([4, 5, 6, 7, 9])).toEqual([]);
      expect(stream([{ position: 4, snapshot: view(4) }, 5, 6, 7, 9], { complete: true })).toEqual([]);
      expect(stream([4, 5, { position: 9, snapshot: view(9) }])).toEqual([]);
      expect(stream([4, 5], { after: 2 })).toEqual([]);
    });

    it.each<[string, readonly (number | SeenEvent)[], string]>([
      ['leaves one out', [4, 6, 7, 9], 'lost'],
      ['ends too early', [4, 5, 6, 7], 'lost'],
      ['shows one twice', [4, 5, 5, 6, 7, 9], 'duplicated'],
      ['goes back', [4, 6, 5, 7, 9], 'reordered'],
      ['shows an event that is not in the log', [4, 5, 6, 7, { position: 8 }, 9], 'lost'],
      ['shows something else', [4, { ...event(6), position: 5 }, 6, 7, 9], 'corrupt'],
      ['shows a task of another moment', [4, 5, { position: 6, snapshot: view(5) }, 7, 9], 'corrupt'],
      ['shows a task that is ahead of the log', [4, 5, 6, 7, 9, { position: 10, snapshot: view(9) }], 'lost'],
    ])('that %s', (_, positions, kind) => {
      expect(stream(positions)).toContain(kind);
    });

    it('that starts in the middle without a snapshot', () => {
      expect(stream([4, 5, 6, 7, 9], { complete: true })).toEqual(['lost']);
    });
  });
});
