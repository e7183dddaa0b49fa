import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { explanations } from '../../scripts/mutation/explanations/explanations.ts';
import { explain, page, type Results } from '../../scripts/mutation/page.ts';
import { parts } from '../../scripts/mutation/parts.ts';
import { type Report, resultOf, scoreOf } from '../../scripts/mutation/result.ts';
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

it('a score is rounded down', () => {
  const { survivors } = resultOf(reportOf(mutant('Survived')), 'today');
  expect(scoreOf({ date: 'today', killed: 1_998, timeout: 1, survivors })).toBe(99.9);
  expect(scoreOf({ date: 'today', killed: 2, timeout: 0, survivors: [] })).toBe(100);
});

it('survivors are tried again on the lines where they are, with the whole of what was changed', () => {
  const line = 'if (a) {';
  const block = { file, line, original: '{ b(); }', replacement: '{}' };
  const short = { file, line, original: 'a', replacement: 'true' };
  const gone = { file, line: 'c();', original: 'c()', replacement: '' };
  const text = 'a();\n  if (a) {\n    b();\n  }\nif (a) {\n  d();\n}\n';
  expect(linesOf([block, short, gone], () => text)).toEqual({
    lines: [`${file}:2-4`, `${file}:2-2`, `${file}:5-5`],
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

it('the page says what was not run, and which survivors nothing explains', () => {
  const result = resultOf(
    reportOf(mutant('Killed'), mutant('Survived', 'a | b'), mutant('Survived', '3')),
    'today',
  );
  const why = 'It is the same.';
  const written = page(['one', 'two'], { one: result }, [{ file, line: '1 + 2;', replacements: ['3'], why }]);
  const link = `[one/src/two.ts](../${file})`;
  expect(written.split('\n')).toEqual(
    expect.arrayContaining([
      '| one | 33.3 | 3 | 1 | 0 | 2 | 1 | today |',
      'Not run: two.',
      `| ${link} | \`1 + 2\` → \`a \\| b\` | **not explained** |`,
      `| ${link} | \`1 + 2\` → \`3\` | ${why} |`,
    ]),
  );
});

it('the page in the repository is the one of its results and explanations', () => {
  expect(read('docs/mutation.md')).toBe(page(Object.keys(parts), results, explanations));
});

it.each(Object.keys(parts))(
  '%s: at least 90 %% of the mutations are noticed, and every other one is explained',
  (part) => {
    const result = results[part]!;
    expect(scoreOf(result)).toBeGreaterThanOrEqual(90);
    expect(result.survivors.filter((survivor) => !explain(survivor, explanations))).toEqual([]);
  },
);

it('every explanation is one of a survivor', () => {
  const survivors = Object.values(results).flatMap((result) => result.survivors);
  const used = new Set(survivors.map((survivor) => explain(survivor, explanations)));
  expect(explanations.filter(({ why }) => !used.has(why))).toEqual([]);
});
