import { FACT_FORMAT, type Fact } from '@batonjs/lifecycle';
import { describe, expect, it } from 'vitest';
import { isSameFact, type OrderedFact } from '../../src/replay/compare-facts.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const minute = 60_000;
const inTime = (ms: number) => new Date(now + ms).toISOString();
const written = { format: FACT_FORMAT, at: inTime(0) } as const;
const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }], metadata: { a: 1 } } as const;
const status = { state: 'TASK_STATE_WORKING', message } as const;
const changed = { type: 'status-changed', status, metadata: { b: 1 }, question: { messageId: 'm' } } as const;
const artifact = { artifactId: 'a', parts: [{ text: 'Hi' }] };
const chunk = {
  type: 'artifact-updated',
  artifact,
  append: true,
  lastChunk: true,
  metadata: { c: 1 },
} as const;
const child = { agent: 'https://one.example/', taskId: 'x' };

const isSame = (recorded: object, produced: object, at = now) =>
  isSameFact({ ...written, ...recorded } as Fact, { ...written, ...produced } as OrderedFact, 'exact', at);

describe('a replay tells apart what differs in', () => {
  it.each<[string, object, object]>([
    ['the state', changed, { status: { ...status, state: 'TASK_STATE_COMPLETED' } }],
    [
      'the text of a status',
      changed,
      { status: { ...status, message: { ...message, parts: [{ text: 'Ho' }] } } },
    ],
    [
      'the metadata of its message',
      changed,
      { status: { ...status, message: { ...message, metadata: {} } } },
    ],
    ['the metadata of a status', changed, { metadata: { b: 2 } }],
    ['what no client sees of a question', changed, { question: { messageId: 'm', onlyBy: 'link' } }],
    ['an artifact', chunk, { artifact: { ...artifact, name: 'b' } }],
    ['whether a chunk is appended', chunk, { append: false }],
    ['whether a chunk is the last one', chunk, { lastChunk: false }],
    ['the metadata of a chunk', chunk, { metadata: { c: 2 } }],
    ['the text of an answer', { type: 'answered', message }, { message: { ...message, parts: [] } }],
    ['the metadata of an answer', { type: 'answered', message }, { message: { ...message, metadata: {} } }],
    [
      'the agent of a child',
      { type: 'child-updated', name: 'c', child },
      { child: { ...child, agent: 'two' } },
    ],
    ['the name of a child', { type: 'child-updated', name: 'c', child }, { name: 'd' }],
  ])('%s', (_, fact, other) => {
    expect([isSame(fact, fact), isSame(fact, { ...fact, ...other })]).toEqual([true, false]);
  });
});

describe('a time to be woken is the same', () => {
  const wake = (ms: number) => ({ type: 'wake-set', turn: 1, time: inTime(ms) });
  it.each([
    ['up to a minute later', 10 * minute, 11 * minute, 0, true],
    ['up to a minute earlier', 10 * minute, 9 * minute, 0, true],
    ['not two minutes later', 10 * minute, 12 * minute, 0, false],
    ['a time of the calendar, however late the replay is', 10 * minute, 10 * minute, 90 * minute, true],
    ['as far from now as it was then', 10 * minute, 101 * minute, 91 * minute, true],
    ['not further from now than it was then', 10 * minute, 103 * minute, 91 * minute, false],
  ])('%s', (_, recorded, produced, later, same) => {
    expect(isSame(wake(recorded), wake(produced), now + later)).toBe(same);
  });
});
