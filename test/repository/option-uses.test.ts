import { describe, expect, it } from 'vitest';
import { allOptions } from '../../docs/.vitepress/tables.ts';
import { documents, readText } from './source-files.ts';

/** The pages that explain how to use a server: not the generated table, and not reports, decisions and notes. */
const pages = documents()
  .filter((path) => /^docs\/(start|agents|serving|operating)\/|^docs\/preview-/.test(path))
  .map((path) => ({ path, code: codeOf(readText(path)) }));

/** The code of a page, in blocks and in sentences. */
function codeOf(page: string): string {
  return page.match(/```[\s\S]*?```|`[^`\n]+`/g)?.join('\n') ?? '';
}

/** Whether a page names an option: a member together with the option that it belongs to. */
const names = (code: string, option: string): boolean =>
  option
    .split('.')
    .slice(-2)
    .every((word) => new RegExp(`(?<![\\w-])${word}\\b(?!\\()`).test(code));

describe('an option of the server', () => {
  it.each(allOptions())('is used on a page beside the table: $name', ({ name }) => {
    expect(pages.some(({ code }) => names(code, name))).toBe(true);
  });

  it('is found by its name in code, with that of its group', () => {
    const code = codeOf(
      '`push.retry.baseDelayMs` and\n```ts\n{ cors: { origins: [] } }\n```\nleaseMs, `unlimited`',
    );
    for (const name of ['push.retry', 'push.retry.baseDelayMs', 'cors.origins'])
      expect(names(code, name), name).toBe(true);
    for (const name of ['leaseMs', 'limit', 'cors.headers', 'push.origins2'])
      expect(names(code, name), name).toBe(false);
  });
});
