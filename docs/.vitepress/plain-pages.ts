import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withSiteLinks } from './links.ts';
import { completeGroups, docs, titleOf, writtenByScripts } from './pages.ts';

/** What the Markdown of a site depends on. */
export interface PlainSite {
  readonly outDir: string;
  readonly base: string;
  /** All pages, those of the reference too, as paths below `docs`. */
  readonly pages: readonly string[];
  readonly description: string;
}

/** Where the Markdown of a page is served, below the base of the site. */
export const plainPath = (page: string): string => page;

/**
 * Writes the Markdown of every page beside its HTML, `llms.txt` with a link to each, and `llms-full.txt` with the text of
 * all that are written by hand.
 */
export function writePlainPages({ outDir, base, pages, description }: PlainSite): void {
  for (const page of pages) {
    mkdirSync(dirname(join(outDir, page)), { recursive: true });
    writeFileSync(join(outDir, page), plain(page));
  }
  cpSync(join(docs, 'images'), join(outDir, 'images'), { recursive: true });

  const link = (page: string) => `- [${titleOf(page)}](${base}${plainPath(page)})`;
  const groups = completeGroups();
  const sections = groups.map((group) => ({ title: group.title, pages: group.pages }));
  const reference = pages.filter((page) => page.startsWith('reference/'));
  const lists = [...sections, { title: 'Packages', pages: reference }].map(
    (section) => `## ${section.title}\n\n${section.pages.map(link).join('\n')}`,
  );
  const head = `# Baton\n\n> ${description}: never drop a task between two agents.`;
  writeFileSync(join(outDir, 'llms.txt'), `${[head, ...lists].join('\n\n')}\n`);

  const read = sections
    .flatMap((section) => section.pages)
    .filter((page) => !writtenByScripts.includes(page));
  const texts = read.map((page) => `<!-- ${base}${plainPath(page)} -->\n\n${plain(page).trim()}`);
  writeFileSync(join(outDir, 'llms-full.txt'), `${texts.join('\n\n')}\n`);
}

/** The Markdown of a page: its settings for the site left out, links to other pages relative. */
function plain(page: string): string {
  const text = readFileSync(join(docs, page), 'utf8').replace(/^---\n[\s\S]*?\n---\n+/, '');
  return withSiteLinks(text, `docs/${page}`, `docs/${page}`);
}
