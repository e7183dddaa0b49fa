import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

  const reference = pages.filter((page) => page.startsWith('reference/'));
  const packages = reference.map((page) => `- [${titleOf(page)}](${base}${plainPath(page)})`);
  const head = `# Baton\n\n> ${description}: never drop a task between two agents.`;
  const lists = [...listOfPages(base), `## Packages\n\n${packages.join('\n')}`];
  writeFileSync(join(outDir, 'llms.txt'), `${[head, ...lists].join('\n\n')}\n`);

  const read = completeGroups()
    .flatMap((group) => group.pages)
    .filter((page) => !writtenByScripts.includes(page));
  const texts = read.map((page) => `<!-- ${base}${plainPath(page)} -->\n\n${plain(page).trim()}`);
  writeFileSync(join(outDir, 'llms-full.txt'), `${texts.join('\n\n')}\n`);
}

/** Groups that are no help for those who use a package. */
const notForUsers: readonly string[] = ['Reports', 'Notes of measurements', 'Decisions'];

const groupsForUsers = () => completeGroups().filter(({ title }) => !notForUsers.includes(title));

/** Each group for users, with a link and a sentence for each page. */
const listOfPages = (base: string): string[] =>
  groupsForUsers().map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${titleOf(page)}](${base}${plainPath(page)}): ${firstSentence(page)}`,
    );
    return `## ${title}\n\n${lines.join('\n')}`;
  });

/** The first sentence of a page, as plain text. */
export function firstSentence(page: string): string {
  const blocks = plain(page)
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .split(/\n{2,}/);
  const paragraph = blocks.find((block) => /^[^#|!<>-]/.test(block.trim())) ?? '';
  const words = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}\B/g, '');
  const text = words.replaceAll(/\s+/g, ' ').trim();
  return /^.*?[.:!?](?= [A-Z`]|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

/**
 * Writes the pages for users as Markdown into `folder`, which a package carries, so that an assistant reads those of the
 * installed version. `README.md` has a link and a sentence for each.
 */
export function writePackageDocs(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const page of groupsForUsers().flatMap((group) => group.pages)) {
    mkdirSync(dirname(join(folder, page)), { recursive: true });
    writeFileSync(join(folder, page), plain(page));
  }
  const head = '# Baton\n\nThe documentation of this version. Begin with the page whose sentence fits.';
  writeFileSync(join(folder, 'README.md'), `${[head, ...listOfPages('')].join('\n\n')}\n`);
}

/** The Markdown of a page: its settings for the site left out, links to other pages relative. */
function plain(page: string): string {
  const text = readFileSync(join(docs, page), 'utf8').replace(/^---\n[\s\S]*?\n---\n+/, '');
  return withSiteLinks(text, `docs/${page}`, `docs/${page}`);
}
