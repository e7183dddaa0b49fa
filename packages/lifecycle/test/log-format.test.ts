import { readdirSync, readFileSync } from 'node:fs';
import {
  evolve,
  type Fact,
  fromSnapshot,
  type Head,
  headOf,
  replay,
  type Snapshot,
  type State,
  toSnapshot,
  UnknownFactError,
  viewTask,
} from '@batonjs/lifecycle';
import { agrees } from '@batonjs/lifecycle/internals';
import { Message, Task } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { create, given, receive, stored } from './given.ts';
import { meaningOf, type RecordedLog } from './recorded-log.ts';

// Logs as each format of the facts and each release wrote them, with what they mean. They are never edited and never removed:
// what was stored once must be read by every later release. A new format, or a new kind of fact, adds files; `pnpm record:logs`
// adds those of a release.
const root = new URL('./fixtures/', import.meta.url);
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.json'))
  .sort();
const read = (name: string): RecordedLog => JSON.parse(readFileSync(new URL(name, root), 'utf8'));

function expectMeaning(
  state: State,
  { facts: _, head: _head, snapshot: _snapshot, ...meaning }: RecordedLog,
) {
  expect(stored(meaningOf(state))).toEqual(meaning);
}

describe.each(files)('the log %s', (name) => {
  const log = read(name);

  it('still means what it meant', () => {
    expectMeaning(replay(log.facts)!, log);
  });

  it('still means it from its snapshot on', () => {
    const rest = log.facts.slice(log.snapshot.version);
    const state = rest.reduce<State>(evolve, fromSnapshot(log.snapshot));
    expectMeaning(state, log);
    expect(stored(toSnapshot(state)).version).toBe(log.facts.length);
  });

  it('still has that head', () => {
    const head = log.facts.reduce<Head | undefined>(headOf, undefined)!;
    expect(stored(head)).toEqual(log.head);
    expect(agrees(log.head, replay(log.facts)!)).toBe(true);
    const restored = log.facts.slice(log.snapshot.version).reduce<State>(evolve, fromSnapshot(log.snapshot));
    expect(agrees(log.head, restored)).toBe(true);
  });

  it('means something that the protocol allows', () => {
    if (log.task) expect(Task.parse(log.task)).toEqual(log.task);
    if (log.answer) expect(Message.parse(log.answer)).toEqual(log.answer);
    expect([log.task, log.answer].filter(Boolean)).toHaveLength(1);
  });

  it('is left as it is by folding it', () => {
    const frozen = freeze(read(name));
    expectMeaning(replay(frozen.facts)!, log);
    const restored = fromSnapshot(frozen.snapshot);
    expectMeaning(frozen.facts.slice(frozen.snapshot.version).reduce<State>(evolve, restored), log);
  });
});

it('there is a stored log with every kind of fact', () => {
  const kinds: Record<Fact['type'], true> = {
    'message-received': true,
    'task-created': true,
    answered: true,
    'turn-started': true,
    'message-taken': true,
    'turn-ended': true,
    woken: true,
    'status-changed': true,
    'artifact-updated': true,
    'cancel-requested': true,
    'step-completed': true,
    'wake-set': true,
    'child-updated': true,
    'step-failed': true,
    'turn-failed': true,
    'turn-paused': true,
    'memory-changed': true,
    'turn-logged': true,
    'callback-opened': true,
    'callback-received': true,
    'labels-set': true,
  };
  const found = new Set(files.flatMap((name) => read(name).facts.map(({ type }) => type)));
  expect([...found].sort()).toEqual(Object.keys(kinds).sort());
});

describe('a log that this release does not understand', () => {
  const { facts, now } = given(receive('m1'), create);
  const [first] = facts;
  const refusal = expect.objectContaining({ code: 'UNKNOWN_FACT', name: 'UnknownFactError' });

  it.each([
    ['a newer format', { format: 2 }],
    ['no format', { format: undefined }],
    ['a format that is no number', { format: 'new' }],
    ['an unknown type', { type: 'task-teleported' }],
    ['a type that every object has', { type: 'constructor' }],
    ['no type', { type: undefined }],
  ])('is refused and never misread: a fact with %s, first or later', (_, difference) => {
    const strange = { ...first, ...difference } as Fact;
    expect(() => evolve(now, strange)).toThrow(refusal);
    expect(() => evolve(undefined, strange)).toThrow(refusal);
    expect(() => replay([...facts, strange])).toThrow(UnknownFactError);
  });

  it('is recognised by its error, also of another copy of the package', () => {
    const fromAnotherCopy = Object.assign(new Error('x'), { code: 'UNKNOWN_FACT' });
    for (const error of [new UnknownFactError('x'), fromAnotherCopy])
      expect(UnknownFactError.is(error)).toBe(true);
    for (const other of [new Error('x'), { code: 'UNAVAILABLE' }, 'UNKNOWN_FACT', null, undefined])
      expect(UnknownFactError.is(other)).toBe(false);
  });

  it('is refused when a fact stands where it cannot stand', () => {
    expect(() => replay(facts.slice(1))).toThrow(refusal);
    const status = { state: 'TASK_STATE_WORKING', timestamp: first!.at };
    const early = { format: 1, at: first!.at, type: 'status-changed', status } as Fact;
    expect(() => replay([first!, early])).toThrow(refusal);
    const artifact = { artifactId: 'a1', parts: [{ text: 'x' }] };
    const chunk = {
      format: 1,
      at: first!.at,
      type: 'artifact-updated',
      artifact,
      append: false,
      lastChunk: false,
    };
    expect(() => replay([first!, chunk as Fact])).toThrow(refusal);
  });

  it.each([2, undefined, 'new'])('is refused when its snapshot has the format %s', (format) => {
    const snapshot = { ...toSnapshot(now), format } as Snapshot;
    expect(() => fromSnapshot(snapshot)).toThrow(refusal);
  });

  it('says which format it has and which are read', () => {
    expect(() => evolve(now, { ...first!, format: 2 as 1 })).toThrow('format 2; this release reads 1');
  });

  it('may carry members that this release does not know', () => {
    const later = facts.map((fact) => ({ ...fact, invented: { later: true } }));
    expect(viewTask(replay(later)!)).toEqual(viewTask(now));
  });
});

function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
