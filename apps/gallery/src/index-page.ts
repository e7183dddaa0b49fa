import { curlLine } from './curl-line.ts';
import type { Exhibit } from './exhibit.ts';

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text = '') => text.replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? '');

const style = `:root{color-scheme:light dark}
body{max-width:44rem;margin:0 auto;padding:2rem 1.25rem;font:16px/1.6 system-ui,sans-serif;overflow-wrap:anywhere;
color:light-dark(#1d1d1f,#ececec);background:light-dark(#fff,#1c1c1e)}
h1{font-size:1.5rem}h2{font-size:1.125rem;margin:2rem 0 .25rem}p{margin:0 0 .5rem}
a{color:light-dark(#14695a,#63cdb6)}nav{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem}
pre{white-space:pre-wrap;margin:0;padding:.75rem 1rem;border-radius:8px;background:light-dark(#f0f0f2,#2d2d30);font-size:.875rem}`;

/** What a person sees at `/`: the pages of the gallery, and its agents. Nothing on it runs. */
export const indexPage = (exhibits: readonly Exhibit[], pages: Readonly<Record<string, string>>): string =>
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Baton gallery</title>
<link rel="icon" href="data:,">
<style>${style}</style>
<main>
<h1>Baton gallery</h1>
<p>Agents to try, on this machine.</p>
<nav aria-label="Pages">${Object.entries(pages)
    .map(([path, name]) => `<a href="${path}">${name}</a>`)
    .join(' ')}</nav>
${exhibits
  .map(
    (exhibit) => `<h2><a href="${escaped(exhibit.url)}">${escaped(exhibit.server.card.name)}</a></h2>
<p>${escaped(exhibit.server.card.description)}</p>
<pre>${escaped(curlLine(exhibit))}</pre>`,
  )
  .join('\n')}
</main>
</html>
`;
