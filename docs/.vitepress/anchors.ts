import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Throws if a page of a built site links to a place on a page that is not there: VitePress checks the pages only. */
export function checkAnchors(outDir: string, base: string): void {
  const pages = new Map(
    globSync('**/*.html', { cwd: outDir }).map((path) => [
      path.replaceAll('\\', '/'),
      readFileSync(join(outDir, path), 'utf8'),
    ]),
  );
  const places = new Map(
    Array.from(pages, ([path, html]) => [
      path,
      new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id)),
    ]),
  );
  const dead = Array.from(pages).flatMap(([path, html]) =>
    Array.from(html.matchAll(/ href="([^"#]*)#([^"]+)"/g))
      .filter(([, to = '', id = '']) => places.get(fileOf(to, path, base))?.has(decoded(id)) === false)
      .map(([, to, id]) => `${path}: ${to}#${id}`),
  );
  if (dead.length > 0) throw new Error(`These links lead to no heading:\n${[...new Set(dead)].join('\n')}`);
}

/** The file that is served at a link of a page. Links to other hosts lead to none. */
function fileOf(link: string, page: string, base: string): string {
  if (link === '') return page;
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return '';
  const path = link.startsWith('/') ? link.slice(base.length) : posix.join(posix.dirname(page), link);
  return path === '' || path.endsWith('/') ? `${path}index.html` : path;
}

const decoded = (id: string): string => decodeURIComponent(id).replaceAll('&amp;', '&');
