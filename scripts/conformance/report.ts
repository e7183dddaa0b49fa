import { relative } from 'node:path';
import { rowIds } from './row-ids.ts';

/** What the test runner writes, as far as it matters here. */
export interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
    }[];
  }[];
}

/** One test that carries a row's id. */
export interface Evidence {
  /** Relative to the repository. */
  readonly file: string;
  /** The sentence that names the row, without ids. */
  readonly title: string;
  readonly passed: boolean;
}

/** The tests of every row in the order of their files; those that failed are no evidence, those that were skipped say so. */
export function evidenceOf(report: VitestReport, root: string): Map<string, Evidence[]> {
  const found = new Map<string, Evidence[]>();
  const files = report.testResults
    .map(({ name, assertionResults }) => ({
      file: relative(root, name).replaceAll('\\', '/'),
      assertionResults,
    }))
    .sort((one, other) => (one.file < other.file ? -1 : 1));
  for (const { file, assertionResults } of files) {
    for (const { ancestorTitles, title, status } of assertionResults) {
      if (status === 'failed') continue;
      for (const id of rowIds([...ancestorTitles, title].join(' | '))) {
        const evidence = { file, title: sentence(ancestorTitles, title, id), passed: status === 'passed' };
        found.set(id, [...(found.get(id) ?? []), evidence]);
      }
    }
  }
  return found;
}

/** The title, after the title of the group that names the row if the test itself does not. */
function sentence(ancestorTitles: readonly string[], title: string, id: string): string {
  const group = ancestorTitles.find((ancestor) => rowIds(ancestor).includes(id));
  const words = rowIds(title).includes(id) || !group ? [title] : [group, title];
  return words
    .join(': ')
    .replace(/\s*\[[^\]]*R-[A-Z0-9]+-\d[^\]]*\]/g, '')
    .trim();
}
