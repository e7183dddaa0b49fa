import { posix, relative } from 'node:path';
import type { VitestReport } from '../conformance/report.ts';

/** A row of the page: other software, and the test files that run it. */
export interface Row {
  readonly software: string;
  /** Relative to the repository. */
  readonly tests: readonly string[];
}

/** The rows of the first table of the page, without the files that a run of their own has (`test:recipes`). */
export function rowsOf(page: string): Row[] {
  const [, table = ''] = page.split('\n## ');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => ({
      software: line.split(' | ')[0]!.slice(2),
      tests: Array.from(line.matchAll(/\]\(([^)]+\.test\.ts)\)/g), ([, path]) =>
        posix.join('docs/start', path!),
      ).filter((path) => !path.includes('/large/')),
    }));
}

/** How many tests of each row passed, and why a row is not shown: a file that failed, did not run, or was skipped. */
export function judge(rows: readonly Row[], report: VitestReport, root: string) {
  const ran = new Map(
    report.testResults.map((file) => [relative(root, file.name).replaceAll('\\', '/'), file]),
  );
  const problems: string[] = [];
  const passed = rows.map(({ software, tests }) => {
    let count = 0;
    for (const test of tests) {
      const results = ran.get(test)?.assertionResults ?? [];
      const failed = results.filter(({ status }) => status === 'failed').length;
      const good = results.filter(({ status }) => status === 'passed').length;
      if (failed > 0) problems.push(`${software}: ${failed} tests of ${test} failed`);
      else if (good === 0) problems.push(`${software}: ${test} ran no test`);
      count += good;
    }
    return { software, count };
  });
  return { passed, problems };
}

/** The page with what a run of this day has shown: each row of the first table ends with how many of its tests passed. */
export function written(page: string, passed: ReturnType<typeof judge>['passed'], day: string): string {
  const counts = passed.values();
  const [head, table, ...rest] = page.split('\n## ');
  const lines = table!.split('\n').map((line) => {
    if (line.startsWith('They passed on')) return `They passed on ${day}.`;
    if (!line.startsWith('| `')) return line;
    const { count } = counts.next().value!;
    return line.replace(/\|[^|]*\|$/, `| ${count || 'by night'} |`);
  });
  return [head, lines.join('\n'), ...rest].join('\n## ');
}
