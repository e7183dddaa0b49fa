import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explanations } from '../../scripts/mutation/explanation.ts';
import { whyLeftOut } from '../../scripts/mutation/option-names.ts';
import { explain, page, type Results } from '../../scripts/mutation/page.ts';
import { parts } from '../../scripts/mutation/parts.ts';
import { type Report, resultOf, scoreOf } from '../../scripts/mutation/result.ts';
import { grouped } from '../../scripts/mutation/sample-checker.ts';
import { linesOf, withRetried } from '../../scripts/mutation/survivors.ts';
import { root } from '../repository/source-files.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const results = JSON.parse(read('scripts/mutation/results.json')) as Results;

const file = 'packages/one/src/two.ts';
const source = 'const a =\n  1 + 2;\n';
const mutant = (status: string, replacement = '1 - 2') => ({
  mutatorName: 'ArithmeticOperator',
  replacement,
  status,
  location: { start: { line: 2, column: 3 }, end: { line: 2, column: 8 } },
});
const reportOf = (...mutants: ReturnType<typeof mutant>[]): Report => ({
  files: { [file]: { source, mutants } },
});

it('a report is counted; what no test runs survives too', () => {
  const report = reportOf(
    ...['Killed', 'RuntimeError', 'Timeout', 'Survived', 'NoCoverage', 'Ignored'].map((one) => mutant(one)),
  );
  const survivor = { file, line: '1 + 2;', original: '1 + 2', replacement: '1 - 2' };
  expect(resultOf(report, 'today')).toEqual({
    date: 'today',
    killed: 2,
    timeout: 1,
    survivors: [survivor, survivor],
  });
  expect(() => resultOf(reportOf(mutant('Pending')), 'today')).toThrow(`${file}:2: a mutation is Pending`);
});

it('of a sample, what was not tried is counted apart, and the page says how large the sample is', () => {
  const report = reportOf(
    ...['Killed', 'Survived', 'CompileError', 'CompileError'].map((one) => mutant(one)),
  );
  const result = resultOf(report, 'today', { size: 2, seed: 'x' });
  expect(result).toMatchObject({ killed: 1, timeout: 0, sample: { seed: 'x', of: 4 } });
  expect(page(['one'], { one: result }, [])).toContain(
    '| one | 50 | 2 of 4, seed x | 1 | 0 | 1 | 0 | today |',
  );
  expect(() => resultOf(report, 'today')).toThrow('a mutation is CompileError');
});

it('a sample is the same for the same seed, another for another one, and never larger than it may be', () => {
  const mutations = Array.from({ length: 40 }, (_, n) => ({
    id: `${n}`,
    fileName: `/tmp/copy-${Math.random()}/packages/one/src/two.ts`,
    location: { start: { line: n, column: 1 } },
    mutatorName: 'BooleanLiteral',
    replacement: 'true',
  }));
  const chosen = (seed: string, size: number) => {
    const groups = grouped(mutations, { size, seed });
    expect(groups.flat().sort()).toEqual(mutations.map(({ id }) => id).sort());
    return groups.filter(({ length }) => length === 1).flat();
  };
  expect(chosen('1', 10)).toHaveLength(10);
  expect(chosen('1', 10)).toEqual(chosen('1', 10));
  expect(chosen('2', 10)).not.toEqual(chosen('1', 10));
  expect(chosen('1', 39)).toHaveLength(40);
  expect(chosen('1', 100)).toHaveLength(40);
});

it('what is left out is the `true` of a table of names, and nothing else', () => {
  /** A value in an object of this type, as Stryker has it. */
  const member = (node: object, name: string, of: unknown = undefined) => {
    const params = [{}, { literal: { type: 'BooleanLiteral', value: of } }];
    const type = { typeName: { name }, typeArguments: { params } };
    const constant = {
      node: { type: 'VariableDeclarator', id: { typeAnnotation: { typeAnnotation: type } } },
    };
    const object = { node: { type: 'ObjectExpression' }, parentPath: constant };
    const property = { node: { type: 'ObjectProperty' }, parentPath: object };
    return { node, parentPath: property } as unknown as Parameters<typeof whyLeftOut>[0];
  };
  const yes = { type: 'BooleanLiteral', value: true };
  expect(whyLeftOut(member(yes, 'OptionNames'))).toMatch(/^Only the names are read/);
  expect(whyLeftOut(member(yes, 'Record', true))).toMatch(/^Only the names are read/);
  const others = [
    member({ ...yes, value: false }, 'OptionNames'),
    member({ type: 'StringLiteral', value: 'true' }, 'OptionNames'),
    member(yes, 'Record', false),
    member(yes, 'Options'),
    { node: yes, parentPath: member(yes, 'OptionNames').parentPath!.parentPath! },
    { node: yes, parentPath: null },
  ];
  expect(others.map(whyLeftOut)).toEqual(others.map(() => undefined));
});

it('a score is rounded down', () => {
  const { survivors } = resultOf(reportOf(mutant('Survived')), 'today');
  expect(scoreOf({ date: 'today', killed: 1_998, timeout: 1, survivors })).toBe(99.9);
  expect(scoreOf({ date: 'today', killed: 2, timeout: 0, survivors: [] })).toBe(100);
});

it('survivors are tried again where they are, with the whole of what was changed, and nothing beside it', () => {
  const line = 'if (a) {';
  const block = { file, line, original: '{ b(); }', replacement: '{}' };
  const short = { file, line, original: 'a', replacement: 'true' };
  const gone = { file, line: 'c();', original: 'c()', replacement: '' };
  const text = 'a();\n  if (a) {\n    b();\n  }\nif (a) {\n  d();\n}\n';
  expect(linesOf([block, short, gone], () => text)).toEqual({
    lines: [`${file}:2:9-4:3`, `${file}:2:6-2:7`, `${file}:5:4-5:5`],
    found: [block, short],
  });
  const before = { date: 'then', killed: 10, timeout: 1, survivors: [block, short, gone] };
  const again = { date: 'now', killed: 7, timeout: 0, survivors: [short] };
  expect(withRetried(before, [block, short], again)).toEqual({
    date: 'now',
    killed: 11,
    timeout: 1,
    survivors: [short],
  });
});

it('survivors of a sample are tried again without what was not in it', () => {
  const of = (replacement: string) => ({ file, line: 'if (a) {', original: 'a', replacement });
  const sample = { seed: '1', of: 90 };
  const before = { date: 'then', killed: 10, timeout: 1, survivors: [of('true'), of('false')], sample };
  const again = { date: 'now', killed: 0, timeout: 0, survivors: [of('true'), of('!a')] };
  expect(withRetried(before, before.survivors, again)).toEqual({
    date: 'now',
    killed: 11,
    timeout: 1,
    survivors: [of('true')],
    sample,
  });
});

it('a survivor of a sample counts as often as before, in however many places its line stands', () => {
  const survivor = { file, line: 'if (a) {', original: 'a', replacement: 'true' };
  const sample = { seed: '1', of: 90 };
  const after = (was: number, found: number) => {
    const before = { date: 'then', killed: 8, timeout: 0, survivors: Array(was).fill(survivor), sample };
    const again = { date: 'now', killed: 0, timeout: 0, survivors: Array(found).fill(survivor) };
    const { killed, survivors } = withRetried(before, before.survivors, again);
    return [killed, survivors.length];
  };
  expect([after(1, 0), after(1, 1), after(1, 2)]).toEqual([
    [9, 0],
    [8, 1],
    [8, 1],
  ]);
  expect([after(2, 0), after(2, 1), after(2, 2)]).toEqual([
    [10, 0],
    [9, 1],
    [8, 2],
  ]);
});

it('the page says what was not run, and which survivors nothing explains', () => {
  const result = resultOf(
    reportOf(mutant('Killed'), mutant('Survived', 'a | b'), mutant('Survived', '3')),
    'today',
  );
  const why = 'It is the same.';
  const written = page(['one', 'two'], { one: result }, [{ file, line: '1 + 2;', replacements: ['3'], why }]);
  const link = `[one/src/two.ts](../../${file})`;
  expect(written.split('\n')).toEqual(
    expect.arrayContaining([
      '| one | 33.3 | all 3 | 1 | 0 | 2 | 1 | today |',
      'Not run: two.',
      `| ${link} | \`1 + 2\` → \`a \\| b\` | **not explained** |`,
      `| ${link} | \`1 + 2\` → \`3\` | ${why} |`,
    ]),
  );
});

/** A pattern with each of its alternatives in braces, the innermost first. */
function withoutBraces(pattern: string): string[] {
  const [braces, alternatives] = /\{([^{}]*)\}/.exec(pattern) ?? [];
  if (braces === undefined) return [pattern];
  return alternatives!.split(',').flatMap((each) => withoutBraces(pattern.replace(braces, each)));
}

it.each(Object.entries(parts))(
  '%s: every pattern of sources and tests is one of files that exist',
  (_, part) => {
    const patterns = [...part.mutate, ...part.tests].filter((pattern) => !pattern.startsWith('!'));
    const gone = patterns
      .flatMap(withoutBraces)
      .filter((pattern) => globSync(pattern, { cwd: root }).length === 0);
    expect(gone).toEqual([]);
  },
);

it('the page in the repository is the one of its results and explanations', () => {
  expect(read('docs/reports/mutation.md')).toBe(page(Object.keys(parts), results, explanations));
});

it.each(Object.keys(results))(
  '%s: 90 % of the mutations are noticed, and every other one is explained',
  (part) => {
    const result = results[part]!;
    expect(scoreOf(result)).toBeGreaterThanOrEqual(90);
    const unexplained = result.survivors.filter((survivor) => !explain(survivor, explanations));
    expect(unexplained).toEqual([]);
  },
);

it('every explanation is one of a survivor', () => {
  const survivors = Object.values(results).flatMap((result) => result.survivors);
  const used = new Set(survivors.map((survivor) => explain(survivor, explanations)));
  expect(explanations.filter(({ why }) => !used.has(why))).toEqual([]);
});
