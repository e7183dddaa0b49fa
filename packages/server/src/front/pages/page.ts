import type { HttpReply } from '@batonjs/bindings';

/** A page for a person on which nothing runs and nothing is loaded. `form`: whether it may post to its own address. */
export const pageReply = (
  body: string,
  { status = 200, form = false }: { readonly status?: number; readonly form?: boolean } = {},
): HttpReply => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${form ? "'self'" : "'none'"}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  },
  body,
});

const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text that is no markup, of at most so many characters. */
export function escaped(text: string, length: number): string {
  const shown = text.length > length ? `${text.slice(0, length)} …` : text;
  return shown.replaceAll(/[&<>"']/g, (mark) => marks[mark] ?? '');
}

/** A page with one style, in the light and in the dark. `title` is text, `body` is markup. */
export const layout = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${escaped(title, 300)}</title>
<style>${style}</style>
<main>
${body}
</main>
</html>
`;

const style = `:root{color-scheme:light dark;--ink:#1c1f26;--soft:#5b6270;--line:#d5d9e2;--field:#858b99;--card:#fff;--ground:#f4f5f8;--main:#2855d9;--on:#fff;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaf0;--soft:#a4abba;--line:#3a404c;--field:#7d8494;--card:#1d2027;--ground:#13151a;--main:#8fb0ff;--on:#10131a;--bad:#ff9d94}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:36rem;margin:6vh auto;padding:2rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
@media(max-width:40rem){main{margin:0;min-height:100vh;border:0;border-radius:0;padding:1.25rem}}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}h1,p,label,legend{unicode-bidi:plaintext;text-align:start}p{margin:0 0 1rem;overflow-wrap:anywhere}.question{white-space:pre-wrap;font-size:1.0625rem}
.from,.until,.hint,.optional{color:var(--soft);font-size:.875rem}.from{margin-bottom:.25rem}.until{margin:1.25rem 0 0}.hint{margin:0 0 .25rem}
form{display:grid;gap:.375rem}label,legend{font-weight:600;padding:0}.option{display:flex;gap:.5rem;align-items:center;font-weight:400;padding:.375rem 0}.optional{font-weight:400}
fieldset{border:0;padding:0;margin:0 0 .75rem}input:not([type=radio],[type=checkbox]),textarea{width:100%;font:inherit;color:inherit;background:transparent;padding:.5rem .625rem;border:1px solid var(--field);border-radius:8px;margin-bottom:.75rem}
[type=radio],[type=checkbox]{width:1.125rem;height:1.125rem;margin:0;accent-color:var(--main)}.mono{font-family:ui-monospace,monospace;font-size:.875rem}main [aria-invalid]{border-color:var(--bad)}
button{justify-self:start;font:inherit;font-weight:600;color:var(--on);background:var(--main);border:0;border-radius:8px;padding:.625rem 1.125rem;cursor:pointer}
:focus-visible{outline:2px solid var(--main);outline-offset:2px}.error{color:var(--bad);font-size:.9375rem;margin:0 0 .25rem}
a{color:var(--main)}h2{font-size:1.125rem;margin:1.5rem 0 .5rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;user-select:all;font:.875rem/1.5 ui-monospace,monospace;padding:.75rem 1rem;border:1px solid var(--line);border-radius:8px}`;
