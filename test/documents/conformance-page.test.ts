import { describe, expect, it } from 'vitest';
import { type Checklist, checklist, parseRows } from '../../scripts/conformance/checklist.ts';
import { page } from '../../scripts/conformance/page.ts';
import { problems } from '../../scripts/conformance/problems.ts';
import { evidenceOf } from '../../scripts/conformance/report.ts';
import { rowIds } from '../../scripts/conformance/row-ids.ts';

// Put together, so that the titles here are no evidence for anything.
const row = (name: string) => `R-${name}`;

describe('the rows that a title names', () => {
  it.each([
    ['answers at once', []],
    ['answers at once [A-01]', ['A-01']],
    ['answers at once [A-01] [B-02]', ['A-01', 'B-02']],
    ['answers at once [A-01, B-02]', ['A-01', 'B-02']],
    ['answers at once [A-01, 03]', ['A-01', 'A-03']],
    ['answers at once [A-08..11]', ['A-08', 'A-09', 'A-10', 'A-11']],
    ['answers at once [A-01–A-03, B-02]', ['A-01', 'A-02', 'A-03', 'B-02']],
    ['answers at once [A-01 to A-03 and 05]', ['A-01', 'A-02', 'A-03', 'A-05']],
    ['answers 400 [A-01] 401', ['A-01']],
  ])('are found in lists and ranges: %s', (title, expected) => {
    expect(rowIds(title.replaceAll(/[AB]-\d\d/g, (name) => row(name)))).toEqual(expected.map(row));
  });
});

describe('the checklist', () => {
  it('has a line per row, and refuses any other', () => {
    expect(parseRows(`# One\n${row('A-01')} MUST Be good.\n`)).toEqual([
      { title: 'One', rows: [{ id: row('A-01'), level: 'MUST', text: 'Be good.' }] },
    ]);
    const once = `# One\n${row('A-01')} MUST Be good.\n`;
    for (const wrong of [`${once}nothing`, once.replace('MUST', 'OUGHT'), once + once.split('\n')[1]])
      expect(() => parseRows(wrong)).toThrow(SyntaxError);
  });

  it('is read from its file, with every exception a row of it that stands there once', () => {
    const { areas, exceptions } = checklist();
    const ids = areas.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(350);
    const excepted = exceptions.flatMap((exception) => exception.ids);
    expect(excepted.filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(excepted).size).toBe(excepted.length);
  });
});

describe('the page', () => {
  const rows: Checklist = {
    areas: parseRows(
      `# Area\n${['A-01 MUST Be good.', 'A-02 SHOULD Be kind.', 'A-03 REC Smile.'].map(row).join('\n')}`,
    ),
    exceptions: [{ kind: 'not shipped', ids: [row('A-02')], reason: 'Nobody is.' }],
  };
  const report = (...tests: [group: string, title: string, status: string][]) =>
    evidenceOf(
      {
        testResults: [
          {
            name: '/repository/packages/one/test/two.test.ts',
            assertionResults: tests.map(([group, title, status]) => ({
              ancestorTitles: [group],
              title,
              status,
            })),
          },
        ],
      },
      '/repository',
    );

  it('names the first test of a file, by its own title or that of its group', () => {
    const evidence = report(
      [`life [${row('A-03')}]`, 'is pleasant', 'passed'],
      ['life', `is good [${row('A-01')}]`, 'passed'],
      ['life', `is very good [${row('A-01')}]`, 'passed'],
    );
    expect(problems(rows, evidence)).toEqual([]);
    const lines = page(rows, evidence).split('\n');
    const link = '[one/two](../../packages/one/test/two.test.ts)';
    expect(lines).toContain(`| ${row('A-01')} | MUST | Be good. | ${link}: is good |`);
    expect(lines).toContain(`| ${row('A-02')} | SHOULD | Be kind. | an exception, see above |`);
    expect(lines).toContain(`| ${row('A-03')} | REC | Smile. | ${link}: life: is pleasant |`);
    expect(lines).toContain('| MUST | 1 | 1 | 0 | 0 |');
    expect(lines).toContain(`| ${row('A-02')} (SHOULD) | Nobody is. |`);
  });

  it.each([
    ['a row that no test names', [], 'A-01'],
    ['a row whose test failed', [['life', 'is good [A-01]', 'failed']], 'A-01'],
    ['a row whose test was skipped', [['life', 'is good [A-01]', 'skipped']], 'A-01'],
    ['a test of an exception', [['life', 'is kind [A-01, A-02]', 'passed']], 'A-02'],
    ['a test of no row', [['life', 'is long [A-01, A-09]', 'passed']], 'A-09'],
  ] as const)('has a problem with %s', (_, tests, expected) => {
    const named = tests.map(([group, title, status]) => [
      group,
      title.replaceAll(/A-\d\d/g, (name) => row(name)),
      status,
    ]) as [string, string, string][];
    expect(problems(rows, report(...named))).toEqual([expect.stringMatching(row(expected))]);
  });

  it('may count what was skipped', () => {
    const evidence = report(['life', `is good [${row('A-01')}]`, 'skipped']);
    expect(problems(rows, evidence, { skipped: true })).toEqual([]);
  });
});
