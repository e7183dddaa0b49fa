import {
  lookedAt,
  readSearch,
  searchExample,
  searchProblem,
  searchWord,
  type TaskRow,
  type TaskSearch,
} from '@batonjs/operator/search';
import fc from 'fast-check';
import { expect, it } from 'vitest';

it.each<[string, TaskSearch]>([
  ['Invoice  97', { text: 'Invoice 97' }],
  ['-label:schedule:* label:"a b"  tea', { labels: ['a b'], notLabels: ['schedule:*'], text: 'tea' }],
  ['code:TIMEOUT took:>1.5s skill:pay', { code: 'TIMEOUT', took: '>1.5s', skill: 'pay' }],
  ['took:<2m cost:<0.5 caller:"ada at acme"', { took: '<2m', cost: '<0.5', caller: 'ada at acme' }],
  ['took:>2 mylabel:x', { text: 'took:>2 mylabel:x' }],
  ['"label:vip" label:"a \\"b\\" \\\\"', { labels: ['a "b" \\'], text: 'label:vip' }],
  ['"open label:x" label:y"z', { labels: ['y"z'], text: 'open label:x' }],
  ['"open label:x', { labels: ['x'], text: '"open' }],
  ['label:a label:b code:a code:b constructor:x', { labels: ['a', 'b'], code: 'b', text: 'constructor:x' }],
  ['', {}],
])('what a person types is read: %s', (typed, wanted) => {
  expect(readSearch(typed)).toStrictEqual(wanted);
});

it.each([
  ['lable:vip took:10 cost:>x -code:a', ['lable:vip', 'took:10', 'cost:>x', '-code:a']],
  ['label: label:"" Label:vip', ['label:', 'label:""', 'Label:vip']],
  [`${searchExample} "lable:vip" at 12:30 -x http://a.example/b`, []],
])('words that look like filters and are none are doubtful: %s', (typed, doubtful) => {
  const problem =
    doubtful.length > 0 ? `${doubtful.join(' ')} is no filter: they are ${searchExample}` : undefined;
  expect(searchProblem(typed)).toBe(problem);
  expect(readSearch(searchExample)).toSatisfy((read) => Object.keys(read).length === 7);
});

const value = fc.oneof(
  fc.constantFrom('a b', 'x:y', '"', '\\', 'label:a', '"a" b'),
  fc.string({ minLength: 1 }),
);
const one = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: undefined });
const many = fc.option(fc.array(value, { minLength: 1, maxLength: 3 }), { nil: undefined });
const bound = (...units: string[]) =>
  fc
    .tuple(
      fc.constantFrom('<', '>'),
      fc.nat(20).map((n) => String(n / 4)),
      fc.constantFrom(...units),
    )
    .map((parts) => parts.join(''));
const search: fc.Arbitrary<TaskSearch> = fc
  .record({
    labels: many,
    notLabels: many,
    ...{ code: one(value), skill: one(value), caller: one(value) },
    took: one(bound('ms', 's', 'm', 'h', 'd')),
    cost: one(bound('')),
    text: one(fc.array(value, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))),
  })
  .map((found) => Object.fromEntries(Object.entries(found).filter(([, each]) => each !== undefined)));

const names = { labels: 'label', notLabels: '-label' };
/** A search as it may be typed. */
const print = (search: TaskSearch): string =>
  Object.entries(search)
    .flatMap(([name, values]) =>
      [values].flat().map((each: string) => {
        // In quotes in any case: words alone may be filters.
        if (name === 'text') return `${searchWord('', `${each} `).slice(0, -2)}"`;
        return searchWord(`${names[name as 'labels'] ?? name}:`, each);
      }),
    )
    .join(' ');

it('every search that can be meant is printed so that it is read again', () => {
  fc.assert(
    fc.property(search, (meant) => {
      expect(readSearch(print(meant))).toStrictEqual(meant);
    }),
  );
});

const ms = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const now = Date.now();
const row = fc.record({
  id: fc.constant('x'),
  contextId: fc.constant('c'),
  state: fc.constantFrom('TASK_STATE_COMPLETED', 'TASK_STATE_WORKING'),
  startedMs: fc.constantFrom(undefined, ...Object.values(ms).flatMap((each) => [each, 5 * each + 10])),
  labels: fc.option(fc.subarray(['a', 'ab', 'b']), { nil: undefined }),
  costs: fc.option(
    fc.dictionary(
      fc.constantFrom('EUR', 'USD'),
      fc.nat(20).map((n) => n * 250_000),
    ),
    {
      nil: undefined,
    },
  ),
  title: one(fc.constantFrom('Tea', 'Coffee')),
  text: one(fc.constantFrom('With milk', 'None')),
});

it('a row is found by what a search says of labels that it has not, its time, its cost and its words', () => {
  const looked = fc.record({
    notLabels: fc.option(fc.subarray(['a', 'a*', '*', 'x'], { minLength: 1 }), { nil: undefined }),
    took: one(bound('ms', 's', 'm', 'h', 'd')),
    cost: one(bound('')),
    text: one(fc.constantFrom('tea', 'MILK', 'e', 'x')),
  });
  const beyond = (bound: string, numbers: readonly number[], scale: number) =>
    numbers.some((number) =>
      bound[0] === '<'
        ? number < Number.parseFloat(bound.slice(1)) * scale
        : number > Number.parseFloat(bound.slice(1)) * scale,
    );
  const found = { some: 0, none: 0 };
  fc.assert(
    fc.property(looked, row, ({ notLabels, took, cost, text }, { startedMs, ...rest }) => {
      const times = startedMs !== undefined && {
        startedAt: new Date(now - startedMs).toISOString(),
        statusAt: new Date(now).toISOString(),
      };
      const { labels = [], costs = {}, title = '', text: said = '', state } = rest;
      const unit = (took?.replace(/[^a-z]/g, '') ?? 's') as keyof typeof ms;
      // A task that runs has taken a little longer meanwhile: no bound of the rows is so near.
      fc.pre(state === 'TASK_STATE_COMPLETED' || startedMs === undefined || startedMs > 10_000);
      const wanted =
        !labels.some((label) =>
          notLabels?.some((one) => one === label || one === '*' || (one === 'a*' && label[0] === 'a')),
        ) &&
        (!took ||
          beyond(
            took,
            startedMs === undefined ? [] : [startedMs + (state.endsWith('WORKING') ? 1 : 0)],
            ms[unit],
          )) &&
        (!cost || beyond(cost, Object.values(costs), 1_000_000)) &&
        (!text || ['x', title, said].some((each) => each.toLowerCase().includes(text.toLowerCase())));
      const given = { ...rest, ...times } as TaskRow;
      const isFound = lookedAt({ notLabels, took, cost, text })?.(given) ?? true;
      expect(isFound).toBe(wanted);
      found[isFound ? 'some' : 'none'] += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(found.some, found.none)).toBeGreaterThan(100);
  expect([lookedAt({}), lookedAt({ notLabels: [], labels: ['vip'], code: 'c' })]).toEqual([
    undefined,
    undefined,
  ]);
});
