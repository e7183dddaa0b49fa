import { SharedJson } from '@batonjs/bindings';
import { changesGeneration, FACT_FORMAT, type Fact, type State } from '@batonjs/lifecycle';
import type { StreamResponse } from '@batonjs/protocol';
import { GENERATION } from '@batonjs/protocol/headers';
import type { StoredFact } from '@batonjs/store';
import { describe, expect, it } from 'vitest';
import { generationAt, generationIn } from '../../../src/log/generation/generation-at.ts';
import { generationParam, timelineLengthParam } from '../../../src/log/generation/generation-param.ts';
import { generationCounter, withGeneration } from '../../../src/log/generation/generations.ts';

const at = '2026-01-01T00:00:00.000Z';
const status = { state: 'TASK_STATE_WORKING' };
const moves = { format: FACT_FORMAT, at, type: 'status-changed', status } as unknown as Fact;
const stays = { format: FACT_FORMAT, at, type: 'woken' } as unknown as Fact;
const stored = (version: number, fact: Fact): StoredFact => ({ version, commitId: 'c', fact });

describe('the generation of a task after an earlier fact', () => {
  const log = Array.from({ length: 1_200 }, (_, n) => stored(n + 1, n % 2 === 0 ? moves : stays));
  const known = {
    conversation: { messages: { items: [{ role: 'ROLE_USER' }], length: 1 } },
  } as unknown as State;
  const reads: number[] = [];
  const store = {
    readFacts: async (_scope: string, _taskId: string, after: number, limit: number) => {
      reads.push(after);
      return log.slice(after, after + limit);
    },
  };
  const of = (version: number, end: number, generation = 1_000) =>
    generationAt(store, { scope: 's', taskId: 't', state: { ...known, generation, version: end } }, version);

  it('does not count the facts that came later, however many', async () => {
    expect([changesGeneration(moves), changesGeneration(stays)]).toEqual([true, false]);
    expect(await Promise.all([of(10, 10), of(10, 11), of(10, 12), of(0, 4)])).toEqual([1_000, 999, 999, 998]);
    reads.length = 0;
    expect(await of(0, 1_100)).toBe(450);
    expect(reads).toEqual([0, 500, 1_000]);
  });

  it('is what is known where the log was deleted meanwhile', async () => {
    expect(await of(1_190, 2_000)).toBe(995);
  });
});

describe('an event', () => {
  const update = { statusUpdate: { taskId: 't', contextId: 'c', status } } as StreamResponse;
  const artifact = { artifactUpdate: { taskId: 't' } } as unknown as StreamResponse;
  const message = { message: { messageId: 'm' } } as unknown as StreamResponse;

  it('of a task has its generation as text; a message has none', () => {
    expect(generationIn(update, 7)).toEqual({
      statusUpdate: { ...Object(update).statusUpdate, generation: '7' },
    });
    expect(generationIn(artifact, 8)).toEqual({ artifactUpdate: { taskId: 't', generation: '8' } });
    expect(generationIn(message, 9)).toBe(message);
  });

  it('is shared by all followers, and counted from fact to fact', () => {
    const event = { id: '1', event: new SharedJson(update), isLast: true };
    const one = withGeneration(event, 5);
    expect([one.id, one.isLast, (one.event.value as { statusUpdate: object }).statusUpdate]).toMatchObject([
      '1',
      true,
      { generation: '5' },
    ]);
    expect(withGeneration(event, 5).event).toBe(one.event);
    const counter = generationCounter(5);
    expect(counter(stored(1, moves), undefined)).toBeUndefined();
    const next = counter(stored(2, stays), { id: '2', event: new SharedJson(update) })!;
    expect(next.event.value).toMatchObject({ statusUpdate: { generation: '6' } });
  });
});

describe('the generation that a request names', () => {
  it.each<[unknown, number | undefined]>([
    [undefined, undefined],
    [null, undefined],
    [7, 7],
    ['7', 7],
    [-1, -1],
    ['1234567890123456789', Number('1234567890123456789')],
  ])('%j is %s', (value, expected) => {
    expect(generationParam(value, 'f', [GENERATION])).toBe(expected);
    expect(generationParam(value, 'f', ['other'])).toBeUndefined();
  });

  it.each([1.5, '', 'x', '1 ', ' 1', '--1', '12345678901234567890', true, {}, []])('%j is none', (value) => {
    expect(() => generationParam(value, 'f', [GENERATION])).toThrow(
      expect.objectContaining({
        details: [
          expect.objectContaining({
            fieldViolations: [{ field: 'f', description: 'must be an integer of 64 bits' }],
          }),
        ],
      }),
    );
  });
});

describe('the length of a timeline that a request names [R-P11-57]', () => {
  it.each<[unknown, number]>([
    [undefined, 1_000],
    [null, 1_000],
    [0, 0],
    ['7', 7],
    [1_001, 1_000],
    [2 ** 31 - 1, 1_000],
  ])('%j is %s', (value, expected) => {
    expect(timelineLengthParam(value, 'f', [GENERATION])).toBe(expected);
    expect(timelineLengthParam(value, 'f', ['other'])).toBeUndefined();
  });

  it.each([-1, '-1', 1.5, '', 'x', 2 ** 31, '2147483648', '12345678901', true, {}])('%j is none', (value) => {
    expect(() => timelineLengthParam(value, 'f', [GENERATION])).toThrow(
      expect.objectContaining({ reason: 'INVALID_PARAMS' }),
    );
  });
});
