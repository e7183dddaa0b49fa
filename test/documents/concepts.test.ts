import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conceptWords, hasConcepts, meaningOf, withConcepts } from '../../docs/.vitepress/concepts.ts';
import { docs, writtenPages } from '../../docs/.vitepress/pages.ts';

const linksOf = (markdown: string) =>
  Array.from(
    markdown.matchAll(/\[([^\]]+)\]\(([^)#\s]*)#(\w+) "([^"]+)"\)/g),
    ([, text, page, word, title]) => ({
      text,
      page,
      word,
      title,
    }),
  );

describe('the words of the concepts page', () => {
  it('have each a section that begins with a sentence', () => {
    for (const word of conceptWords)
      expect([word, meaningOf(word)]).toEqual([word, expect.stringMatching(/^[A-Z].{15,120}\.$/)]);
  });

  it('are linked where a page first uses them, with what they mean, and not again', () => {
    const text = 'An agent works on a task, and\nanother agent waits for a task.';
    expect(withConcepts(text, 'agents/steps.md')).toBe(
      `An [agent](../start/concepts.md#agent "${meaningOf('agent')}") works on a ` +
        `[task](../start/concepts.md#task "${meaningOf('task')}"), and\nanother agent waits for a task.`,
    );
    expect(linksOf(withConcepts('Leases', 'performance.md'))[0]).toMatchObject({
      text: 'Leases',
      page: 'start/concepts.md',
    });
  });

  it.each([
    '# Tasks',
    '```ts\nconst task = 1;\n```',
    '`task`',
    '[a task](x.md)',
    '[`task`](x.md)',
    '![a task](x.svg)',
    '<b task>',
    'https://a.example/task',
    'Turn it off, and take turns',
    'Growth is the question',
  ])('are not linked in %j', (text) => {
    expect(linksOf(withConcepts(text, 'agents/steps.md'))).toEqual([]);
  });

  it('are linked on all pages for those who use Baton, once each', () => {
    const pages = writtenPages().filter(hasConcepts);
    expect(pages.length).toBeGreaterThan(50);
    expect(hasConcepts('start/concepts.md') || hasConcepts('reports/mutation.md')).toBe(false);
    for (const page of pages) {
      const links = linksOf(withConcepts(readFileSync(join(docs, page), 'utf8'), page));
      const words = links.map(({ word }) => word);
      expect([page, words.length]).toEqual([page, new Set(words).size]);
      expect(words.length, page).toBeGreaterThan(0);
    }
  });
});
