import { describe, expect, it } from 'vitest';
import type { TaskFilter, TaskRow } from '../../src/api/task.ts';
import { filterOf } from '../../src/app/list/search.ts';
import { RequestError } from '../../src/http/reply.ts';
import { filterFor, isIn, queryOf, readFilter, requestOf } from '../../src/tasks/filters.ts';

const read = (query: string) => readFilter(new URLSearchParams(query));

describe('the filter in a query', () => {
  it('has all labels that are named, and whatever else there is', () => {
    expect(read('labels=vip&labels=&labels=late')).toStrictEqual({ labels: ['vip', 'late'] });
    expect(read('labels=')).toStrictEqual({});
    expect(read('skill=s&code=c&caller=ada&unserved=true')).toStrictEqual({
      skill: 's',
      code: 'c',
      caller: 'ada',
      unserved: true,
    });
    for (const unserved of ['', 'false', 'yes']) expect(read(`unserved=${unserved}`)).toStrictEqual({});
    expect(read('state=&contextId=&text=&maxAgeMs=&scope=')).toStrictEqual({});
    const rest = { state: 'TASK_STATE_FAILED', contextId: 'c', text: 't', maxAgeMs: 0, scope: 2 };
    expect(read('state=TASK_STATE_FAILED&contextId=c&text=t&maxAgeMs=0&scope=2')).toStrictEqual(rest);
    expect(read(`maxAgeMs=${'1'.repeat(15)}`)).toMatchObject({ maxAgeMs: Number('1'.repeat(15)) });
  });

  it.each([
    ['state=BUSY', 'There is no state BUSY'],
    ...['x', '-1', '1x', 'x1', '1.5', '1'.repeat(16)].map((text) => [
      `maxAgeMs=${text}`,
      'maxAgeMs must be a whole number',
    ]),
  ])('is refused as %s', (query, message) => {
    expect(() => read(query!)).toThrow(new RequestError(400, message!));
  });

  it('is refused with a label that no task can have', () => {
    const refusal = (query: string): unknown => {
      try {
        return read(query);
      } catch (error) {
        return error instanceof RequestError && error.status;
      }
    };
    expect(refusal(`labels=${'x'.repeat(10_000)}`)).toBe(400);
    expect(refusal('labels=x')).toEqual({ labels: ['x'] });
  });
});

const filter: TaskFilter = {
  state: 'TASK_STATE_WORKING',
  contextId: 'c',
  labels: ['vip'],
  skill: 's',
  code: 'k',
  text: 't',
  maxAgeMs: 60_000,
  unserved: true,
  caller: 'ada',
  scope: 1,
};
const times = { statusTimestampAfter: expect.stringMatching(/Z$/), statusSince: expect.stringMatching(/Z$/) };

it('an agent and a store are asked for what they can filter by', () => {
  const { statusTimestampAfter, statusSince } = times;
  const both = { contextId: 'c', labels: ['vip'], skill: 's', code: 'k' };
  expect(requestOf(filter)).toStrictEqual({ status: 'TASK_STATE_WORKING', ...both, statusTimestampAfter });
  expect(queryOf(filter)).toStrictEqual({ state: 'TASK_STATE_WORKING', ...both, statusSince });
  expect([requestOf({ scope: 1 }), queryOf({ scope: 1 })]).toStrictEqual([{}, {}]);
});

describe('a row', () => {
  const row: TaskRow = {
    id: 'task',
    contextId: 'c',
    state: 'TASK_STATE_WORKING',
    labels: ['vip', 'late'],
    code: 'k',
    statusAt: '9999-01-01T00:00:00.000Z',
    waitsFor: '1.0',
  };
  const plain: TaskRow = { id: 'x', contextId: 'y', state: 'TASK_STATE_FAILED' };

  it.each<[TaskFilter, boolean]>([
    [{ state: 'TASK_STATE_WORKING' }, true],
    [{ contextId: 'c' }, true],
    [{ labels: ['late', 'vip'] }, true],
    [{ labels: ['vip', 'early'] }, false],
    [{ code: 'k' }, true],
    [{ text: 'TAS' }, true],
    [{ maxAgeMs: 60_000 }, true],
    [{ unserved: true }, true],
    // Only a store and an agent know it.
    [{ skill: 's' }, false],
    [{ caller: 'ada', scope: 3 }, true],
    [{ code: 'k', text: 'none' }, false],
  ])('has %j: %s', (wanted, isMet) => {
    expect(isIn(wanted)(row)).toBe(isMet);
    if (!('caller' in wanted)) expect(isIn(wanted)(plain)).toBe(false);
  });
});

it('what neither an agent nor a store knows is asked of no one', () => {
  const looked: TaskFilter = { notLabels: ['a'], took: '>5s', cost: '>1', text: 't' };
  expect(read('notLabels=a&notLabels=&took=>5s&cost=>1&text=t')).toStrictEqual(looked);
  expect([requestOf(looked), queryOf(looked)]).toStrictEqual([{}, {}]);
});

it('what stands in the box of a search counts before what is chosen beside it', () => {
  const filter = (query: string) => filterOf(new URLSearchParams(query));
  expect(filter('caller=ada&q=caller:bob tea&age=5')).toEqual({ caller: 'bob', text: 'tea', maxAgeMs: 5 });
  expect(filter('caller=ada&code=K')).toEqual({ caller: 'ada', code: 'K' });
});

it('a filter by caller becomes the scope of that caller, if the store has it', () => {
  const store = { scopes: [{ label: 'ada' }, { label: 'bob' }] } as never;
  expect(filterFor({ store }, { caller: 'ada', text: 't', scope: 0 })).toStrictEqual({ text: 't', scope: 0 });
  expect(filterFor({ store }, { caller: 'bob' })).toStrictEqual({ scope: 1 });
  expect(filterFor({ store }, { caller: 'eve' })).toBeUndefined();
  expect(filterFor({ store: undefined }, { caller: 'ada' })).toBeUndefined();
  const others: TaskFilter = { text: 't' };
  expect(filterFor({ store: undefined }, others)).toBe(others);
});
