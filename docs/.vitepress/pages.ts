import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Group, groups } from './sidebar.ts';

/** The folder of the pages. */
export const docs = join(import.meta.dirname, '..');

/** Tables that scripts write from the results of tests: to look things up, not to read. */
export const writtenByScripts: readonly string[] = ['reports/conformance.md', 'reports/mutation.md'];

/** Folders below `docs` that hold no pages of the repository. */
const foreign = /^(node_modules|reference)\//;

/** The pages that are written by hand, as paths below `docs`. */
export function writtenPages(): string[] {
  return globSync('**/*.md', { cwd: docs, exclude: (path) => foreign.test(`${path}/`) })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** The groups of the sidebar, with one of the decisions. Throws if a page is in no group, in two, or does not exist. */
export function completeGroups(pages: readonly string[] = writtenPages()): Group[] {
  const decisions = pages.filter((path) => path.startsWith('decisions/'));
  const all = [...groups, { title: 'Decisions', collapsed: true, pages: decisions }];
  const shown = all.flatMap((group) => group.pages);
  for (const page of pages)
    if (!shown.includes(page)) throw new Error(`docs/${page} is in no group of docs/.vitepress/sidebar.ts`);
  for (const [n, page] of shown.entries()) {
    if (!pages.includes(page))
      throw new Error(`docs/.vitepress/sidebar.ts names docs/${page}, which does not exist`);
    if (shown.indexOf(page) !== n) throw new Error(`docs/.vitepress/sidebar.ts names docs/${page} twice`);
  }
  return all;
}

/** The `title` in the head of a page below `docs`, or its first heading without marks, or the name of its file. */
export function titleOf(page: string): string {
  const text = readFileSync(join(docs, page), 'utf8');
  const heading = /^---\n(?:.*\n)*?title: (.+)\n/.exec(text)?.[1] ?? /^# (.+)$/m.exec(text)?.[1];
  return heading?.replace(/[`*]|\\(?=\W)/g, '') ?? basename(page, '.md');
}
