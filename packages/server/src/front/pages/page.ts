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
