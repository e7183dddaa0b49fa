import { existsSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The folder of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Where the sources are read in a browser. */
export const repository = 'https://github.com/batonjs/baton';

/**
 * The target of a link for the site. `from` is the file with the link, `page` the page of the site that shows it; both
 * are paths in the repository. A link to a page stays relative, one to a package leads to its page in the reference,
 * one to another file to the repository. A link to a file that does not exist is left as it is: the build refuses it.
 */
export function siteLink(target: string, from: string, page: string): string {
  if (target === '' || /^([a-z][a-z\d+.-]*:|[#/])/i.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const found = posix.join(posix.dirname(from), path);
  if (found.startsWith('../') || !existsSync(join(root, found))) return target;
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const shown = pageOf(found);
  if (shown !== undefined) return posix.relative(posix.dirname(page), shown) + hash;
  if (found.startsWith('docs/images/')) return posix.relative(posix.dirname(page), found);
  const isFolder = statSync(join(root, found)).isDirectory();
  return `${repository}/${isFolder ? 'tree' : 'blob'}/main/${found.replace(/\/$/, '')}${hash}`;
}

/** The page that shows a file or folder of the repository, if there is one. */
function pageOf(path: string): string | undefined {
  if (/^docs\/.*\.md$/.test(path)) return path;
  if (path === 'README.md') return 'docs/index.md';
  const folder = /^packages\/([\w.-]+)(?:\/|\/README\.md)?$/.exec(path)?.[1];
  return folder && `docs/reference/${folder}/index.md`;
}

/** Markdown with the targets of its links and pictures rewritten by {@link siteLink}, code left as it is. */
export function withSiteLinks(markdown: string, from: string, page: string): string {
  return outsideOfCode(markdown, (text) =>
    text.replaceAll(/\]\(([^)\s]+)\)/g, (_match, target: string) => `](${siteLink(target, from, page)})`),
  );
}

/** Markdown with a change to all that is no code: neither between fences nor between backticks. */
export function outsideOfCode(markdown: string, change: (text: string) => string): string {
  const parts = markdown.split(/(^```[\s\S]*?^```$|`[^`\n]+`)/m);
  // A code span inside of a link's text, [`name`](target), splits the link after its text: the target is still found.
  return parts.map((part, n) => (n % 2 === 0 ? change(part) : part)).join('');
}
