import { describe, expect, it } from 'vitest';
import type { TaskFilter, TaskRow } from '../../src/api/task.ts';
import { filterOf, offersFor } from '../../src/app/list/search.ts';
import { RequestError } from '../../src/http/reply.ts';
import { filterFor, isIn, queryOf, readFilter, requestOf } from '../../src/tasks/filters.ts';

const read = (query: string) => readFilter(new URLSearchParams(query));

describe('the filter in a query', () => {
  it('has what its search says, and whatever else there is', () => {
    expect(read('q=label:vip -label:old took:>5s cost:>1 code:c skill:s caller:ada tea')).toEqual({
      ...{ labels: ['vip'], notLabels: ['old'], took: '>5s', cost: '>1' },
      ...{ code: 'c', skill: 's', caller: 'ada', text: 'tea' },
    });
    expect(read('unserved=true')).toEqual({ unserved: true });
    for (const unserved of ['', 'false', 'yes']) expect(read(`unserved=${unserved}`)).toEqual({});
    expect(read('state=&contextId=&q=&maxAgeMs=&scope=')).toEqual({});
    const rest = { state: 'TASK_STATE_FAILED', contextId: 'c', text: 't', maxAgeMs: 0, scope: 2 };
    expect(read('state=TASK_STATE_FAILED&contextId=c&q=t&maxAgeMs=0&scope=2')).toEqual(rest);
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
    expect(refusal(`q=label:${'x'.repeat(10_000)}`)).toBe(400);
    expect(refusal('q=label:x')).toEqual({ labels: ['x'] });
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
  expect(requestOf(filter)).toEqual({ status: 'TASK_STATE_WORKING', ...both, statusTimestampAfter });
  expect(queryOf(filter)).toEqual({ state: 'TASK_STATE_WORKING', ...both, statusSince });
  expect([requestOf({ scope: 1 }), queryOf({ scope: 1 })]).toEqual([{}, {}]);
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
  expect([requestOf(looked), queryOf(looked)]).toEqual([{}, {}]);
});

it('what stands in the box of a search counts before what is chosen beside it', () => {
  const filter = (query: string) => filterOf(new URLSearchParams(query));
  expect(filter('caller=ada&q=caller:bob tea&age=5')).toEqual({ q: 'caller:bob tea', maxAgeMs: 5 });
  expect(filter('caller=ada m&code=K')).toEqual({ q: 'caller:"ada m" code:K' });
  expect(filter('code=K&q=tea&state=failed')).toEqual({ q: 'tea code:K', state: 'TASK_STATE_FAILED' });
  expect(filter('q=&caller=&state=unserved')).toEqual({ unserved: true });
});

it('the filters that the last word of a search may mean are offered', () => {
  const rows = [
    { labels: ['vip', 'a b'], code: 'LATE', skills: ['pay'] },
    { labels: ['vip'] },
    { caller: 'ada' },
  ];
  const offered = (text: string) => offersFor(text, rows);
  expect(offered('tea c')).toEqual(['code:', 'caller:', 'cost:']);
  expect([offered('-'), offered('la')]).toEqual([['-label:'], ['label:']]);
  expect([offered('label:'), offered('-label:"a')]).toEqual([['label:vip', 'label:"a b"'], ['-label:"a b"']]);
  expect([offered('label:x code:'), offered('skill:p'), offered('caller:a')]).toEqual([
    ['code:LATE'],
    ['skill:pay'],
    ['caller:ada'],
  ]);
  for (const text of ['', 'tea ', 'label:vip', 'took:', 'constructor:', 'x'])
    expect(offered(text)).toEqual([]);
  const many = Array.from({ length: 20 }, (_, n) => ({ code: `C${n}` }));
  expect(offersFor('code:', many)).toHaveLength(8);
});

it('a filter by caller becomes the scope of that caller, if the store has it', () => {
  const store = { scopes: [{ label: 'ada' }, { label: 'bob' }] } as never;
  expect(filterFor({ store }, { caller: 'ada', text: 't', scope: 0 })).toEqual({ text: 't', scope: 0 });
  expect(filterFor({ store }, { caller: 'bob' })).toEqual({ scope: 1 });
  expect(filterFor({ store }, { caller: 'eve' })).toBeUndefined();
  expect(filterFor({ store: undefined }, { caller: 'ada' })).toBeUndefined();
  const others: TaskFilter = { text: 't' };
  expect(filterFor({ store: undefined }, others)).toBe(others);
});
