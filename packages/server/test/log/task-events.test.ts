import { FACT_FORMAT, type Fact, replay, type State } from '@batonjs/lifecycle';
import { expect, it } from 'vitest';
import { say } from '../../../../test/kit/rpc.ts';
import { eventOf, positionIn, taskEvent } from '../../src/log/fit-task.ts';
import type { LiveTask } from '../../src/log/live-task.ts';
import { RecentFacts } from '../../src/log/recent-facts.ts';

const written = { format: FACT_FORMAT, at: '2026-01-01T00:00:00.000Z' } as const;
const facts: Fact[] = [
  { ...written, type: 'message-received', message: say('go', { contextId: 'c' }) },
  { ...written, type: 'task-created', taskId: 't', contextId: 'c' },
  { ...written, type: 'status-changed', status: { state: 'TASK_STATE_WORKING' } } as Fact,
];

const task = (commits: Readonly<Record<number, string>>, state: State) =>
  ({
    ...{ taskId: 't', state, recent: new RecentFacts() },
    commitIdAt: (version: number) => commits[version],
  }) as unknown as LiveTask;

/** The id of the event for the fact at version 3, of a commit. */
const idAt3 = (commitId: string, origin = 'o') => {
  const live = task({}, replay(facts)!);
  return eventOf(live, origin, { version: 3, commitId, fact: facts[2]! })!.id!;
};

it('the id of an event leads back to its position, and knows the commit that was there', () => {
  const id = idAt3('commit-7');
  const position = positionIn('o', id)!;
  expect(position.version).toBe(3);
  for (const [other, is] of [
    ['commit-7', true],
    ['commit-8', false],
    ['ommit-7', false],
    ['7-timmoc', false],
    ['', false],
  ] as const)
    expect([other, position.isOf(other)]).toEqual([other, is]);
  const ids = Array.from({ length: 500 }, (_, n) => idAt3(`commit-${n}`));
  expect(new Set(ids).size).toBe(500);
  // The marks are of 32 bits, in a text that a header can carry.
  for (const one of [...ids, idAt3(''), idAt3('x'.repeat(1_000))])
    expect(one).toMatch(/^o\.3~[0-9a-z]{1,7}$/);
});

it('an origin with dots in it is one, and another origin is none', () => {
  expect(positionIn('a.b.1', idAt3('c', 'a.b.1'))?.version).toBe(3);
  expect(positionIn('a.b', idAt3('c', 'a.b.1'))).toBeUndefined();
  expect(positionIn('other', idAt3('c'))).toBeUndefined();
});

it.each([
  'o',
  'o.',
  'o.3',
  'o.3~',
  'o.~a',
  'o.x~a',
  'o.3~A',
  'o.3~a.',
  'o.-3~a',
  'o.3~12345678',
  `o.${'1'.repeat(16)}~a`,
  'o.3~a b',
  '.3~a',
  '',
])('an id that no event had names no position: %j', (id) => expect(positionIn('o', id)).toBeUndefined());

it('a task whose last commit is not known has an id without a mark, which names no position', () => {
  const state = replay(facts)!;
  const { id } = taskEvent(task({}, state), state, 'o', {}, 10_000);
  expect(id).toBe('o.3');
  expect(positionIn('o', id!)).toBeUndefined();
  const known = taskEvent(task({ 3: 'commit-7' }, state), state, 'o', {}, 10_000);
  expect(known.id).toBe(idAt3('commit-7'));
  expect(known.event.value).toMatchObject({ task: { id: 't', status: { state: 'TASK_STATE_WORKING' } } });
});

it('a fact that clients do not get has no event', () => {
  const fact: Fact = { ...written, type: 'turn-started', attempt: 1, messageIds: [] } as unknown as Fact;
  expect(eventOf(task({}, replay(facts)!), 'o', { version: 4, commitId: 'c', fact })).toBeUndefined();
});
